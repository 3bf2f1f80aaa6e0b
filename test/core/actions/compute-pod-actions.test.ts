import {describe, expect, test} from 'vitest';
import {computePodActions} from '../../../src/core/actions/compute-pod-actions.js';
import type {PodActions, ProbeResult} from '../../../src/core/actions/types.js';
import type {ContainerId} from '../../../src/core/runtime-status/types.js';
import {
  aContainer,
  aPod,
  aPodStatus,
  aProbe,
  aSidecar,
  created,
  exited,
  inUnknownState,
  markedDeleted,
  nothingYet,
  running,
  sandboxId,
  withContainer,
  withContainers,
  withInitContainers,
  withInstance,
  withMetadata,
  withRestartPolicy,
  withSandboxes,
  withSpec,
  type PodChange,
  type StatusChange,
} from '../../support/builders.js';

interface Case {
  readonly name: string;
  readonly pod?: readonly PodChange[];
  readonly status?: readonly StatusChange[];
  readonly liveness?: Readonly<Record<string, ProbeResult>>;
  readonly startup?: Readonly<Record<string, ProbeResult>>;
  readonly want: Partial<PodActions>;
}

const IDLE: PodActions = {
  killPod: false,
  createSandbox: false,
  sandboxID: 'sandbox-0',
  attempt: 0,
  initContainersToStart: [],
  containersToStart: [],
  ephemeralContainersToStart: [],
  containersToKill: [],
  containersToReset: [],
};

function actionsOf({pod: podChanges = [], status: changes = [], liveness = {}, startup = {}}: Case): PodActions {
  const pod = aPod(...podChanges);
  const results = (results: Readonly<Record<string, ProbeResult>>) =>
    new Map(Object.entries(results).map(([id, result]) => [`containerd://${id}` as ContainerId, result]));
  return computePodActions(pod, aPodStatus(pod, ...changes), {liveness: results(liveness), startup: results(startup)});
}

/** Left over from an older sandbox. */
function createdBefore(name: string): StatusChange {
  return withInstance(name, {state: 'created', startedAt: null, active: false});
}

function check(cases: readonly Case[]): void {
  for (const testCase of cases) {
    test(testCase.name, () => {
      expect(actionsOf(testCase)).toEqual({...IDLE, ...testCase.want});
    });
  }
}

const NEW_SANDBOX = {killPod: true, createSandbox: true} as const;

describe('sandboxes', () => {
  check([
    {
      name: 'a pod that the runtime does not know gets its first sandbox, and all its containers',
      pod: [withContainers('a', 'b')],
      status: [nothingYet],
      want: {...NEW_SANDBOX, sandboxID: '', containersToStart: [0, 1]},
    },
    {
      name: 'a dead sandbox is replaced by the next attempt',
      status: [withSandboxes({state: 'SANDBOX_NOTREADY', attempt: 3})],
      want: {...NEW_SANDBOX, attempt: 4, containersToStart: [0]},
    },
    {
      name: 'of two ready sandboxes neither is of use',
      status: [withSandboxes({attempt: 1}, {id: sandboxId('sandbox-old')})],
      want: {...NEW_SANDBOX, attempt: 2, containersToStart: [0]},
    },
    {
      name: 'a sandbox whose network answers without an address is replaced',
      status: [withSandboxes({ip: ''})],
      want: {...NEW_SANDBOX, attempt: 1, containersToStart: [0]},
    },
    {
      name: 'a sandbox without any network section is used',
      status: [withSandboxes({ip: null}), running('main')],
      want: {},
    },
    {
      name: 'a pod on the host network needs no address',
      pod: [withSpec({hostNetwork: true})],
      status: [withSandboxes({ip: '', namespaceNetwork: 'NODE'}), running('main')],
      want: {},
    },
    {
      name: 'C09: hostNetwork switched on replaces the sandbox and names none to take over',
      pod: [withSpec({hostNetwork: true})],
      status: [withSandboxes({namespaceNetwork: 'POD'}), running('main')],
      want: {...NEW_SANDBOX, sandboxID: '', attempt: 1, containersToStart: [0]},
    },
    {
      name: 'Never and a dead sandbox: the pod is only killed once any container is known',
      pod: [withRestartPolicy('Never')],
      status: [withSandboxes({state: 'SANDBOX_NOTREADY'}), exited('main', 1)],
      want: {killPod: true, attempt: 1},
    },
    {
      name: 'Never and a dead sandbox without any container: the sandbox is tried again',
      pod: [withRestartPolicy('Never')],
      status: [withSandboxes({state: 'SANDBOX_NOTREADY'})],
      want: {...NEW_SANDBOX, attempt: 1, containersToStart: [0]},
    },
    {
      name: 'OnFailure: what ended with 0 is left out of a new sandbox',
      pod: [withRestartPolicy('OnFailure'), withContainers('a', 'b')],
      status: [withSandboxes({state: 'SANDBOX_NOTREADY'}), exited('a', 0), exited('b', 2)],
      want: {...NEW_SANDBOX, attempt: 1, containersToStart: [1]},
    },
    {
      name: 'OnFailure: with nothing left to run the pod is only killed',
      pod: [withRestartPolicy('OnFailure')],
      status: [withSandboxes({state: 'SANDBOX_NOTREADY'}), exited('main', 0)],
      want: {killPod: true, attempt: 1},
    },
    {
      name: 'the OnFailure of a container counts for it alone',
      pod: [withContainers(aContainer('a', {restartPolicy: 'OnFailure'}), 'b')],
      status: [withSandboxes({state: 'SANDBOX_NOTREADY'}), exited('a', 0), exited('b', 0)],
      want: {...NEW_SANDBOX, attempt: 1, containersToStart: [1]},
    },
    {
      name: 'a new sandbox starts from the first init container',
      pod: [withInitContainers('i1', 'i2')],
      status: [withSandboxes({state: 'SANDBOX_NOTREADY'}), exited('i1'), exited('i2'), running('main')],
      want: {...NEW_SANDBOX, attempt: 1, initContainersToStart: [0]},
    },
  ]);
});

describe('init containers', () => {
  const two = [withInitContainers('i1', 'i2')];
  check([
    {name: 'nothing known: the first one starts', pod: two, want: {initContainersToStart: [0]}},
    {name: 'one that runs is waited for', pod: two, status: [running('i1')], want: {}},
    {
      name: 'once one has completed the next starts',
      pod: two,
      status: [exited('i1')],
      want: {initContainersToStart: [1]},
    },
    {
      name: 'C10: a regular container that runs proves initialisation, although no init container is known',
      pod: two,
      status: [running('main')],
      want: {},
    },
    {
      name: 'C10: the last one done is enough, those before it may be gone',
      pod: two,
      status: [exited('i2')],
      want: {containersToStart: [0]},
    },
    {
      name: 'C10: a regular container that exited proves nothing',
      pod: two,
      status: [exited('main', 1)],
      want: {initContainersToStart: [0]},
    },
    {
      name: 'C10: one that was killed for memory has failed, even with exit code 0',
      pod: two,
      status: [exited('i1', 0, {reason: 'OOMKilled'})],
      want: {initContainersToStart: [0]},
    },
    {
      name: 'C11: one that stays created has failed to start and is started again',
      pod: two,
      status: [created('i1')],
      want: {initContainersToStart: [0]},
    },
    {
      name: 'C11: under Never as well',
      pod: [...two, withRestartPolicy('Never')],
      status: [created('i1')],
      want: {initContainersToStart: [0]},
    },
    {
      name: 'a failed one is started again',
      pod: [...two, withRestartPolicy('OnFailure')],
      status: [exited('i1', 1)],
      want: {initContainersToStart: [0]},
    },
    {
      name: 'what an older sandbox still has of the pod says nothing of a new one',
      pod: two,
      status: [exited('i1', 0, {active: false}), exited('i2', 0, {active: false}), createdBefore('main')],
      want: {initContainersToStart: [0]},
    },
    {
      name: 'a failed one under Never ends the pod',
      pod: [...two, withRestartPolicy('Never')],
      status: [exited('i1', 1)],
      want: {killPod: true},
    },
    {
      name: 'its own policy beats Never of the pod',
      pod: [withInitContainers(aContainer('i1', {restartPolicy: 'OnFailure'})), withRestartPolicy('Never')],
      status: [exited('i1', 1)],
      want: {initContainersToStart: [0]},
    },
    {
      name: 'one in unknown state is killed before it is started again',
      pod: two,
      status: [inUnknownState('i1')],
      want: {
        initContainersToStart: [0],
        containersToKill: [
          {
            id: 'containerd://i1-0' as ContainerId,
            name: 'i1',
            reason: 'Unknown',
            message: 'Init container is in "unknown" state, try killing it before restart',
          },
        ],
      },
    },
  ]);
});

describe('sidecars', () => {
  const killed = (name: string, reason: 'LivenessProbe' | 'StartupProbe' | '', what: string) => ({
    id: `containerd://${name}-0` as ContainerId,
    name,
    reason,
    message: `Init container ${name} ${what}`,
  });
  const withStartup = [withInitContainers(aSidecar('side', {startupProbe: aProbe()}), 'i2')];
  check([
    {
      name: 'one that runs lets the next init container start',
      pod: [withInitContainers(aSidecar(), 'i2')],
      status: [running('side')],
      want: {initContainersToStart: [1]},
    },
    {name: 'its startup probe has to succeed first', pod: withStartup, status: [running('side')], want: {}},
    {
      name: 'an undecided startup probe is waited for',
      pod: withStartup,
      status: [running('side')],
      startup: {'side-0': 'unknown'},
      want: {},
    },
    {
      name: 'a startup probe that succeeded lets the next one start',
      pod: withStartup,
      status: [running('side')],
      startup: {'side-0': 'success'},
      want: {initContainersToStart: [1]},
    },
    {
      name: 'a startup probe that failed restarts it',
      pod: withStartup,
      status: [running('side')],
      startup: {'side-0': 'failure'},
      want: {initContainersToStart: [0], containersToKill: [killed('side', 'StartupProbe', 'failed startup probe')]},
    },
    {
      name: 'a liveness failure restarts it and does not hold the next one up',
      pod: [withInitContainers(aSidecar('side', {livenessProbe: aProbe()}), 'i2')],
      status: [running('side')],
      liveness: {'side-0': 'failure'},
      want: {
        initContainersToStart: [0, 1],
        containersToKill: [killed('side', 'LivenessProbe', 'failed liveness probe')],
      },
    },
    {
      name: 'C09: another image restarts it',
      pod: [withInitContainers(aSidecar()), withContainer('side', {image: 'busybox:2'})],
      status: [withInstance('side', {hash: '1'}), running('main')],
      want: {initContainersToStart: [0], containersToKill: [killed('side', '', 'definition changed')]},
    },
    {
      name: 'after initialisation every sidecar that is not running is started again, in order',
      pod: [withInitContainers(aSidecar('s1'), 'i2', aSidecar('s3'), aSidecar('s4'))],
      status: [exited('s1', 1), created('s3'), running('main')],
      want: {initContainersToStart: [0, 2, 3]},
    },
    {
      name: 'with no regular container left to run they are not started, and the pod is killed',
      pod: [withInitContainers(aSidecar('s1'), aSidecar('s2')), withRestartPolicy('OnFailure')],
      status: [exited('s1'), running('s2'), exited('main')],
      want: {killPod: true, initContainersToStart: []},
    },
  ]);
});

describe('regular containers', () => {
  const killMain = (reason: 'LivenessProbe' | 'StartupProbe' | '', message: string) => [
    {id: 'containerd://main-0' as ContainerId, name: 'main', reason, message},
  ];
  check([
    {name: 'one that runs as defined is left alone', status: [running('main')], want: {}},
    {name: 'one that is missing is started', want: {containersToStart: [0]}},
    {name: 'one that exited is started again', status: [exited('main', 1)], want: {containersToStart: [0]}},
    {
      name: 'C13: exit code 0 is no reason to stay down under Always',
      status: [exited('main', 0)],
      want: {containersToStart: [0]},
    },
    {
      name: 'under Never it stays down, and the pod is over',
      pod: [withRestartPolicy('Never')],
      status: [exited('main', 1)],
      want: {killPod: true},
    },
    {
      name: 'C11: created is started again under any policy',
      pod: [withRestartPolicy('Never')],
      status: [created('main')],
      want: {containersToStart: [0]},
    },
    {
      name: 'C09: another image restarts it whatever the policy says',
      pod: [withRestartPolicy('Never')],
      status: [withInstance('main', {hash: '1'})],
      want: {
        containersToStart: [0],
        containersToKill: killMain('', 'Container main definition changed, will be restarted'),
      },
    },
    {
      name: 'C09: other arguments restart nothing',
      pod: [withContainer('main', {args: ['other'], volumeMounts: [{name: 'v', mountPath: '/v'}]})],
      status: [running('main')],
      want: {},
    },
    {
      name: 'C09: a container that was added is started',
      pod: [withContainers('main', 'added')],
      status: [running('main')],
      want: {containersToStart: [1]},
    },
    {
      name: 'a failed liveness probe restarts it',
      status: [running('main')],
      liveness: {'main-0': 'failure'},
      want: {
        containersToStart: [0],
        containersToKill: killMain('LivenessProbe', 'Container main failed liveness probe, will be restarted'),
      },
    },
    {
      name: 'a failed liveness probe under Never kills it for good',
      pod: [withRestartPolicy('Never'), withContainers('main', 'other')],
      status: [running('main', 'other')],
      liveness: {'main-0': 'failure'},
      want: {containersToKill: killMain('LivenessProbe', 'Container main failed liveness probe')},
    },
    {
      name: 'liveness is asked before startup',
      status: [running('main')],
      liveness: {'main-0': 'failure'},
      startup: {'main-0': 'failure'},
      want: {
        containersToStart: [0],
        containersToKill: killMain('LivenessProbe', 'Container main failed liveness probe, will be restarted'),
      },
    },
    {
      name: 'while it runs its rules by exit code play no part, only its policy',
      pod: [
        withContainers(
          aContainer('main', {
            restartPolicy: 'Never',
            restartPolicyRules: [{action: 'Restart', exitCodes: {operator: 'NotIn', values: [9999]}}],
          }),
          'other',
        ),
      ],
      status: [running('main', 'other')],
      startup: {'main-0': 'failure'},
      want: {containersToKill: killMain('StartupProbe', 'Container main failed startup probe')},
    },
    {
      name: 'nothing of a pod marked deleted is started, but what is wrong is still killed',
      pod: [markedDeleted(), withContainers('main', 'gone')],
      status: [running('main')],
      liveness: {'main-0': 'failure'},
      want: {
        containersToStart: [0],
        containersToKill: killMain('LivenessProbe', 'Container main failed liveness probe, will be restarted'),
      },
    },
    {
      name: 'ephemeral containers start without initialisation, and never twice',
      pod: [withInitContainers('i1'), withSpec({ephemeralContainers: [aContainer('dbg1'), aContainer('dbg2')]})],
      status: [exited('dbg1', 1)],
      want: {initContainersToStart: [0], ephemeralContainersToStart: [1]},
    },
  ]);
});

describe('rules by exit code', () => {
  const rule = (action: string, operator: 'In' | 'NotIn', ...values: number[]) => ({
    action,
    exitCodes: {operator, values},
  });
  const ruled = (...restartPolicyRules: ReturnType<typeof rule>[]) => [
    withRestartPolicy('Never'),
    withContainers(aContainer('main', {restartPolicy: 'Never', restartPolicyRules}), 'other'),
  ];
  check([
    {
      name: 'a matching rule restarts in spite of Never',
      pod: ruled(rule('Restart', 'In', 42)),
      status: [running('other'), exited('main', 42)],
      want: {containersToStart: [0]},
    },
    {
      name: 'no match: the policy of the container decides',
      pod: ruled(rule('Restart', 'In', 42)),
      status: [running('other'), exited('main', 1)],
      want: {},
    },
    {
      name: 'NotIn matches every code that is not listed',
      pod: ruled(rule('Restart', 'NotIn', 1, 2)),
      status: [running('other'), exited('main', 3)],
      want: {containersToStart: [0]},
    },
    {
      name: 'the first rule that matches is the one that counts',
      pod: ruled(rule('Ignored', 'In', 7), rule('Restart', 'In', 7)),
      status: [running('other'), exited('main', 7)],
      want: {},
    },
    {
      name: 'a rule that restarts all restarts its own container too',
      pod: ruled(rule('RestartAllContainers', 'In', 42)),
      status: [running('other'), exited('main', 42)],
      want: {containersToStart: [0]},
    },
    {
      name: 'rules of a container without a policy of its own are not read',
      pod: [
        withRestartPolicy('Never'),
        withContainers(aContainer('main', {restartPolicyRules: [rule('Restart', 'In', 42)]}), 'other'),
      ],
      status: [running('other'), exited('main', 42)],
      want: {},
    },
  ]);

  test('a restart of all containers removes every instance, the one that caused it last', () => {
    const restartAll = [rule('RestartAllContainers', 'In', 42)];
    const pod = aPod(
      withInitContainers('i1'),
      withContainers(aContainer('main', {restartPolicy: 'Never', restartPolicyRules: restartAll}), 'other'),
    );
    const status = aPodStatus(
      pod,
      exited('i1'),
      running('other'),
      exited('main', 1),
      exited('main', 42, {restartCount: 1}),
    );
    const probes = {liveness: new Map(), startup: new Map()};
    const actions = computePodActions(pod, status, probes, {restartAllContainers: true});
    expect(actions.containersToReset.map(({id, kill}) => `${id} ${kill ? 'killed' : 'removed'}`)).toEqual([
      'containerd://main-0 removed',
      'containerd://other-0 killed',
      'containerd://i1-0 removed',
      'containerd://main-1 removed',
    ]);
    expect(actions.containersToStart).toEqual([]);
  });
});

test('the uid is not asked: an instance is found by the pod it belongs to', () => {
  const pod = aPod(withMetadata({uid: '0f0e0d0c-0000-4000-8000-000000000001'}));
  const status = aPodStatus(aPod(), running('main'));
  expect(computePodActions(pod, status, {liveness: new Map(), startup: new Map()})).toEqual(IDLE);
});
