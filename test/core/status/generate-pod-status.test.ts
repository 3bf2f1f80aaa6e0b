import {describe, expect, test} from 'vitest';
import type {ProbeResult} from '../../../src/core/actions/types.js';
import type {ContainerStatus, Pod, PodCondition, PodStatus} from '../../../src/core/pod/types.js';
import type {ContainerId} from '../../../src/core/runtime-status/types.js';
import {generatePodStatus, type PodStatusInput} from '../../../src/core/status/generate-pod-status.js';
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
  running,
  T0,
  withContainer,
  withContainers,
  withInitContainers,
  withInstance,
  withMetadata,
  withRestartPolicy,
  withSandboxes,
  withSpec,
  type StatusChange,
} from '../../support/builders.js';

type Facts = Partial<Omit<PodStatusInput, 'pod' | 'runtimeStatus' | 'oldStatus'>>;

function statusOf(
  pod: Pod,
  changes: readonly StatusChange[],
  {old, ...facts}: Facts & {readonly old?: PodStatus} = {},
): PodStatus {
  return generatePodStatus({
    pod,
    runtimeStatus: aPodStatus(pod, ...changes),
    oldStatus: old,
    podIsTerminal: false,
    readiness: new Map(),
    startup: new Map(),
    startFailures: new Map(),
    agentStart: T0,
    ...facts,
  });
}

const results = (id: string, result: ProbeResult) => new Map([[`containerd://${id}` as ContainerId, result]]);
const main = (status: PodStatus): ContainerStatus => status.containerStatuses![0]!;
const condition = (status: PodStatus, type: string): PodCondition => status.conditions!.find(one => one.type === type)!;
const readyPod = (pod: Pod): Pod => ({...pod, status: {conditions: [{type: 'Ready', status: 'True'}]}});

describe('a container', () => {
  test('without instance is being created, or waits for initialisation', () => {
    expect(main(statusOf(aPod(), [])).state).toEqual({waiting: {reason: 'ContainerCreating'}});
    expect(main(statusOf(aPod(withInitContainers('i')), [])).state).toEqual({waiting: {reason: 'PodInitializing'}});
  });

  test('that runs shows since when, by the digest of its image', () => {
    expect(main(statusOf(aPod(), [running('main')]))).toMatchObject({
      state: {running: {startedAt: '2026-03-01T12:00:02Z'}},
      imageID: 'docker.io/library/busybox@sha256:main',
      containerID: 'containerd://main-0',
      ready: true,
      started: true,
      resources: {},
    });
  });

  test('that has ended shows how, and the instance before it as its last state', () => {
    const pod = aPod(withRestartPolicy('Never'));
    const before = exited('main', 3, {restartCount: 0, message: 'bye'});
    const now = exited('main', 0, {restartCount: 1, createdAt: T0 + 9000});
    expect(main(statusOf(pod, [before, now]))).toMatchObject({
      restartCount: 1,
      ready: false,
      state: {terminated: {exitCode: 0, reason: 'Completed', finishedAt: '2026-03-01T12:00:05Z'}},
      lastState: {terminated: {exitCode: 3, reason: 'Error', message: 'bye'}},
    });
  });

  test('that could not be started waits with the reason, its end becomes its last state', () => {
    const startFailures = new Map([['main', {reason: 'CrashLoopBackOff', message: 'back-off 10s'}]]);
    expect(main(statusOf(aPod(), [exited('main', 1)], {startFailures}))).toMatchObject({
      state: {waiting: {reason: 'CrashLoopBackOff', message: 'back-off 10s'}},
      lastState: {terminated: {exitCode: 1}},
    });
  });

  test('that will not be started again keeps its end, whatever failed before', () => {
    const startFailures = new Map([['main', {reason: 'RunContainerError', message: ''}]]);
    const pod = aPod(withRestartPolicy('Never'));
    expect(main(statusOf(pod, [exited('main', 1)], {startFailures})).state).toHaveProperty('terminated');
    expect(main(statusOf(aPod(), [running('main')], {startFailures})).state).toHaveProperty('running');
  });

  test('that was created and never ran is waiting', () => {
    expect(main(statusOf(aPod(), [created('main')])).state).toEqual({waiting: {}});
  });

  test('that was running and is gone has been restarted, unless its pod is deleted', () => {
    const old = statusOf(aPod(), [running('main')]);
    const gone = {exitCode: 137, reason: 'ContainerStatusUnknown'};
    expect(main(statusOf(aPod(), [], {old}))).toMatchObject({
      restartCount: 1,
      state: {waiting: {reason: 'ContainerCreating'}},
      lastState: {terminated: gone},
    });
    expect(main(statusOf(aPod(markedDeleted()), [], {old}))).toMatchObject({
      restartCount: 0,
      lastState: {terminated: gone},
    });
  });

  test('that was running and is in unknown state has ended', () => {
    const old = statusOf(aPod(), [running('main')]);
    expect(main(statusOf(aPod(), [inUnknownState('main')], {old}))).toMatchObject({
      restartCount: 1,
      state: {terminated: {exitCode: 137, reason: 'ContainerStatusUnknown'}},
    });
    expect(main(statusOf(aPod(), [inUnknownState('main')])).state).toEqual({waiting: {}});
  });

  test('never counts backwards when its instances are removed', () => {
    const old = statusOf(aPod(), [exited('main', 1, {restartCount: 5})]);
    expect(main(statusOf(aPod(), [running('main')], {old})).restartCount).toBe(6);
  });

  test('tells how its mounts were made read-only', () => {
    const volumeMounts = [
      {name: 'a', mountPath: '/a'},
      {name: 'b', mountPath: '/b', readOnly: true, recursiveReadOnly: 'IfPossible'},
      {name: 'c', mountPath: '/c', readOnly: true},
    ];
    const pod = aPod(withContainer('main', {volumeMounts}));
    const modes = (supportsRecursiveReadOnly: boolean) =>
      main(statusOf(pod, [running('main')], {supportsRecursiveReadOnly})).volumeMounts?.map(m => m.recursiveReadOnly);
    expect(modes(true)).toEqual([undefined, 'Enabled', 'Disabled']);
    expect(modes(false)).toEqual([undefined, 'Disabled', 'Disabled']);
  });

  test('of regular containers are sorted by name, init containers by their place', () => {
    const pod = aPod(withContainers('b', 'a'), withInitContainers('z', 'y'));
    const status = statusOf(pod, []);
    expect(status.containerStatuses?.map(({name}) => name)).toEqual(['a', 'b']);
    expect(status.initContainerStatuses?.map(({name}) => name)).toEqual(['z', 'y']);
  });
});

describe('an init container', () => {
  const pod = aPod(withInitContainers('i', aSidecar()));
  const init = (status: PodStatus): readonly ContainerStatus[] => status.initContainerStatuses!;

  test('is ready once it has completed', () => {
    expect(init(statusOf(pod, [exited('i')])).map(({ready}) => ready)).toEqual([true, false]);
    expect(init(statusOf(pod, [exited('i', 1)])).map(({ready}) => ready)).toEqual([false, false]);
  });

  test('without instance has completed if regular containers were made; a sidecar has not', () => {
    expect(init(statusOf(pod, [running('main')])).map(({state}) => Object.keys(state!))).toEqual([
      ['terminated'],
      ['waiting'],
    ]);
  });

  test('that was restarted after failing keeps waiting with the reason', () => {
    const startFailures = new Map([['i', {reason: 'CrashLoopBackOff', message: 'm'}]]);
    expect(init(statusOf(pod, [exited('i', 1)], {startFailures}))[0]?.state).toEqual({
      waiting: {reason: 'CrashLoopBackOff', message: 'm'},
    });
    expect(init(statusOf(pod, [exited('i', 0)], {startFailures}))[0]?.state).toHaveProperty('terminated');
  });
});

describe('started and ready', () => {
  const probed = aPod(withContainer('main', {readinessProbe: aProbe(), startupProbe: aProbe()}));
  const read = (facts: Facts & {old?: PodStatus}, pod = probed): [boolean | undefined, boolean] => {
    const {started, ready} = main(statusOf(pod, [running('main')], facts));
    return [started, ready];
  };

  test('wait for their probes', () => {
    expect(read({})).toEqual([false, false]);
    expect(read({startup: results('main-0', 'unknown')})).toEqual([false, false]);
    expect(read({startup: results('main-0', 'success')})).toEqual([true, false]);
    expect(read({startup: results('main-0', 'success'), readiness: results('main-0', 'success')})).toEqual([
      true,
      true,
    ]);
    expect(read({startup: results('main-0', 'success'), readiness: results('main-0', 'failure')})).toEqual([
      true,
      false,
    ]);
  });

  test('started lasts while the container runs, until its probe says something about the new instance', () => {
    const old = statusOf(probed, [running('main')], {startup: results('main-0', 'success')});
    expect(read({old})[0]).toBe(true);
    expect(read({old, startup: results('main-0', 'failure')})[0]).toBe(false);
    expect(read({old: statusOf(probed, [])})[0]).toBe(false);
  });

  test('a container that was there before the agent is ready as its pod was published', () => {
    const pod = aPod(withContainer('main', {readinessProbe: aProbe()}));
    const later = {agentStart: T0 + 60_000};
    expect(read(later, readyPod(pod))[1]).toBe(true);
    expect(read(later, pod)[1]).toBe(false);
    expect(read({...later, readiness: results('main-0', 'failure')}, readyPod(pod))[1]).toBe(false);
    expect(read({agentStart: T0 + 5000}, readyPod(pod))[1]).toBe(false);
  });
});

describe('conditions', () => {
  test('come in order, and are all true for a pod that is up', () => {
    const {conditions} = statusOf(aPod(), [running('main')]);
    expect(conditions).toEqual(
      ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(type => ({
        type,
        status: 'True',
      })),
    );
  });

  test('name what is not ready, sidecars first', () => {
    const pod = aPod(withInitContainers(aSidecar()), withContainers('b', 'a'));
    expect(condition(statusOf(pod, [running('side', 'a')]), 'Ready')).toEqual({
      type: 'Ready',
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [b]',
    });
    expect(condition(statusOf(pod, []), 'ContainersReady').message).toBe('containers with unready status: [side b a]');
  });

  test('name what is not initialised', () => {
    const pod = aPod(withInitContainers('i1', 'i2'));
    expect(condition(statusOf(pod, [exited('i1')]), 'Initialized')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [i2]',
    });
    expect(condition(statusOf(pod, [running('main')]), 'Initialized').status).toBe('True');
  });

  test('take initialisation back for nothing', () => {
    const pod = aPod(withInitContainers('i'));
    const old = {conditions: [{type: 'Initialized', status: 'True'}]};
    expect(condition(statusOf(pod, [], {old}), 'Initialized').status).toBe('True');
  });

  test('say that the sandbox is to be made', () => {
    const status = statusOf(aPod(), [withSandboxes({state: 'SANDBOX_NOTREADY'})]);
    expect(condition(status, 'PodReadyToStartContainers').status).toBe('False');
  });

  test('say why a pod that is over is not ready', () => {
    const pod = aPod(withRestartPolicy('Never'));
    const reasons = (code: number) =>
      statusOf(pod, [exited('main', code)]).conditions?.map(({type, reason}) => `${type}:${reason ?? ''}`);
    expect(reasons(0)).toEqual([
      'PodReadyToStartContainers:',
      'Initialized:PodCompleted',
      'Ready:PodCompleted',
      'ContainersReady:PodCompleted',
      'PodScheduled:',
    ]);
    expect(reasons(1)?.slice(2, 4)).toEqual(['Ready:PodFailed', 'ContainersReady:PodFailed']);
  });

  test('readiness gates hold Ready back, and nothing else', () => {
    const pod = aPod(withSpec({readinessGates: [{conditionType: 'example.com/gate'}]}));
    const status = statusOf(pod, [running('main')]);
    expect(condition(status, 'ContainersReady').status).toBe('True');
    expect(condition(status, 'Ready')).toEqual({
      type: 'Ready',
      status: 'False',
      reason: 'ReadinessGatesNotReady',
      message: 'corresponding condition of pod readiness gate "example.com/gate" does not exist.',
    });
    const withGate = (value: string): Pod => ({
      ...pod,
      status: {conditions: [{type: 'example.com/gate', status: value}]},
    });
    expect(condition(statusOf(withGate('True'), [running('main')]), 'Ready').status).toBe('True');
    expect(condition(statusOf(withGate('False'), [running('main')]), 'Ready').message).toBe(
      'the status of pod readiness gate "example.com/gate" is not "True", but False',
    );
  });

  test('of others are kept, a disruption from the status before', () => {
    const disruption = {type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet'};
    const foreign = {type: 'example.com/x', status: 'False'};
    const pod = {...aPod(), status: {conditions: [foreign, {type: 'Ready', status: 'True'}]}};
    const {conditions} = statusOf(pod, [], {old: {conditions: [disruption]}});
    expect(conditions?.slice(0, 2)).toEqual([foreign, disruption]);
    expect(conditions?.filter(({type}) => type === 'Ready')).toHaveLength(1);
  });

  test('carry the generation of the pod they are about', () => {
    const status = statusOf(aPod(withMetadata({generation: 4})), [running('main')]);
    expect(status.observedGeneration).toBe(4);
    expect(condition(status, 'Ready').observedGeneration).toBe(4);
  });

  test('say that all containers restart, until the last one is removed', () => {
    const restartPolicyRules = [{action: 'RestartAllContainers', exitCodes: {operator: 'In', values: [42]}}];
    const pod = aPod(withContainers(aContainer('main', {restartPolicy: 'Never', restartPolicyRules}), 'other'));
    const restarting = statusOf(pod, [running('other'), exited('main', 42)]);
    expect(condition(restarting, 'AllContainersRestarting')).toMatchObject({
      status: 'True',
      reason: 'RestartAllContainersStarted',
    });
    const cleaned = statusOf(pod, [], {old: restarting});
    expect(condition(cleaned, 'AllContainersRestarting').status).toBe('False');
    expect(cleaned.containerStatuses?.map(({state, restartCount}) => [state?.waiting?.reason, restartCount])).toEqual([
      ['RestartingAllContainers', 1],
      ['RestartingAllContainers', 1],
    ]);
    expect(condition(statusOf(pod, [], {old: cleaned}), 'AllContainersRestarting').status).toBe('False');
  });
});

describe('the pod', () => {
  test('never leaves a terminal phase, and keeps its reason', () => {
    const old = {phase: 'Failed', reason: 'DeadlineExceeded', message: 'late'};
    expect(statusOf(aPod(), [running('main')], {old})).toMatchObject(old);
    expect(statusOf({...aPod(), status: {phase: 'Succeeded'}}, [exited('main', 1)]).phase).toBe('Succeeded');
  });

  test('drops the reason of a phase that it has left', () => {
    const old = {phase: 'Pending', reason: 'Blocked', message: 'm'};
    const status = statusOf(aPod(), [running('main')], {old});
    expect(status.phase).toBe('Running');
    expect(status).not.toHaveProperty('reason');
    expect(statusOf(aPod(), [], {old})).toMatchObject(old);
  });

  test('is failed when somebody wants it ended', () => {
    const eviction = {
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    };
    expect(statusOf(aPod(), [running('main')], {eviction})).toMatchObject({phase: 'Failed', ...eviction});
  });

  test('shows one address of each family, IPv4 first', () => {
    const ips: StatusChange = status => ({...status, ips: ['fd00:0::1', '10.88.0.9', 'fd00::2']});
    expect(statusOf(aPod(), [ips])).toMatchObject({podIP: '10.88.0.9', podIPs: [{ip: '10.88.0.9'}, {ip: 'fd00::1'}]});
  });

  test('shows the addresses of the host where they are known', () => {
    const hostIPs = ['192.0.2.1'];
    const noIPs: StatusChange = status => ({...status, ips: []});
    expect(statusOf(aPod(), [noIPs], {hostIPs})).toMatchObject({hostIP: '192.0.2.1', hostIPs: [{ip: '192.0.2.1'}]});
    expect(statusOf(aPod(), [noIPs], {hostIPs})).not.toHaveProperty('podIP');
    expect(statusOf(aPod(withSpec({hostNetwork: true})), [noIPs], {hostIPs}).podIP).toBe('192.0.2.1');
  });

  test('adds up its resources', () => {
    const resources = {limits: {cpu: '300m', memory: '48Mi'}, requests: {cpu: '100m', memory: '16Mi'}};
    const pod = aPod(
      withContainers(
        aContainer('a', {resources}),
        aContainer('b', {resources: {limits: {cpu: '5m'}, requests: {}}}),
        'c',
      ),
    );
    expect(statusOf(pod, [running('a')])).toMatchObject({
      qosClass: 'Burstable',
      resources: {limits: {cpu: '305m', memory: '48Mi'}, requests: {cpu: '100m', memory: '16Mi'}},
      allocatedResources: {cpu: '100m', memory: '16Mi'},
    });
    const bare = statusOf(aPod(), []);
    expect(bare.resources).toEqual({});
    expect(bare).not.toHaveProperty('allocatedResources');
  });

  test('adds overhead to what is requested, and to limits that are there', () => {
    const resources = {limits: {cpu: '1'}, requests: {cpu: '1'}};
    const pod = aPod(withContainers(aContainer('a', {resources})), withSpec({overhead: {cpu: '250m', memory: '8Mi'}}));
    expect(statusOf(pod, []).resources).toEqual({limits: {cpu: '1250m'}, requests: {cpu: '1250m', memory: '8Mi'}});
  });

  test('of which only ephemeral containers differ shows them apart', () => {
    const pod = aPod(withSpec({ephemeralContainers: [aContainer('dbg')]}));
    const status = statusOf(pod, [running('main', 'dbg')]);
    expect(status.ephemeralContainerStatuses?.[0]).toMatchObject({name: 'dbg', ready: false});
    expect(status.ephemeralContainerStatuses?.[0]).not.toHaveProperty('started');
  });

  test('stays as it is when nothing changes', () => {
    const pod = aPod(withInitContainers('i', aSidecar()), withContainers('a', 'b'));
    const changes = [exited('i'), running('side', 'a'), withInstance('b', {restartCount: 2})];
    const once = statusOf(pod, changes);
    expect(statusOf(pod, changes, {old: once})).toEqual(once);
  });
});
