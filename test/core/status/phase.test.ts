import {describe, expect, test} from 'vitest';
import type {ContainerState, ContainerStatus, Pod} from '../../../src/core/pod/types.js';
import {podPhase} from '../../../src/core/status/phase.js';
import {
  aContainer,
  aPod,
  aSidecar,
  withContainers,
  withInitContainers,
  withMetadata,
  withRestartPolicy,
  type PodChange,
} from '../../support/builders.js';

const RUNNING: ContainerState = {running: {}};
const WAITING: ContainerState = {waiting: {reason: 'ContainerCreating'}};
const ended = (exitCode: number, reason = 'Error'): ContainerState => ({terminated: {exitCode, reason}});

function aStatus(name: string, state: ContainerState, overrides: Partial<ContainerStatus> = {}): ContainerStatus {
  return {name, image: '', imageID: '', ready: false, restartCount: 0, state, ...overrides};
}

interface Case {
  readonly name: string;
  readonly pod?: readonly PodChange[];
  readonly statuses: readonly ContainerStatus[];
  readonly podIsTerminal?: boolean;
  readonly podHasInitialized?: boolean;
  readonly want: string;
}

const two = withContainers('a', 'b');
const fromFile = withMetadata({annotations: {'kubernetes.io/config.source': 'file'}});

const cases: readonly Case[] = [
  {name: 'nothing known', statuses: [], want: 'Pending'},
  {name: 'one waits', pod: [two], statuses: [aStatus('a', RUNNING), aStatus('b', WAITING)], want: 'Pending'},
  {name: 'one has no status', pod: [two], statuses: [aStatus('a', RUNNING)], want: 'Pending'},
  {
    name: 'one has a status without state',
    pod: [two],
    statuses: [aStatus('a', RUNNING), aStatus('b', {})],
    want: 'Pending',
  },
  {
    name: 'one runs, one has ended',
    pod: [two],
    statuses: [aStatus('a', RUNNING), aStatus('b', ended(1))],
    want: 'Running',
  },
  {
    name: 'one that waits to be restarted has ended',
    pod: [two],
    statuses: [aStatus('a', RUNNING), aStatus('b', WAITING, {lastState: ended(1)})],
    want: 'Running',
  },
  {name: 'all ended under Always', statuses: [aStatus('main', ended(0))], want: 'Running'},
  {name: 'all ended well', pod: [withRestartPolicy('Never')], statuses: [aStatus('main', ended(0))], want: 'Succeeded'},
  {
    name: 'one ended badly under Never',
    pod: [two, withRestartPolicy('Never')],
    statuses: [aStatus('a', ended(0)), aStatus('b', ended(1))],
    want: 'Failed',
  },
  {
    name: 'one ended badly under OnFailure',
    pod: [two, withRestartPolicy('OnFailure')],
    statuses: [aStatus('a', ended(0)), aStatus('b', ended(1))],
    want: 'Running',
  },
  {
    name: 'a rule restarts what ended badly under Never',
    pod: [
      withContainers(
        aContainer('main', {
          restartPolicy: 'Never',
          restartPolicyRules: [{action: 'Restart', exitCodes: {operator: 'In', values: [42]}}],
        }),
      ),
      withRestartPolicy('Never'),
    ],
    statuses: [aStatus('main', ended(42))],
    want: 'Running',
  },
  {
    name: 'what a restart of all containers removed is going to run again',
    pod: [withRestartPolicy('Never')],
    statuses: [aStatus('main', ended(137, 'RestartingAllContainers'))],
    want: 'Running',
  },
  {
    name: 'a pod that is over for good, whatever its policy',
    statuses: [aStatus('main', ended(1))],
    podIsTerminal: true,
    want: 'Failed',
  },
  {
    name: 'a pod that is over and ended well',
    statuses: [aStatus('main', ended(0))],
    podIsTerminal: true,
    want: 'Succeeded',
  },
  {
    name: 'a static pod is not over just because it is torn down',
    pod: [fromFile],
    statuses: [aStatus('main', ended(0))],
    podIsTerminal: true,
    want: 'Running',
  },
  {
    name: 'an init container runs',
    pod: [withInitContainers('i')],
    statuses: [aStatus('i', RUNNING), aStatus('main', WAITING)],
    want: 'Pending',
  },
  {
    name: 'an init container failed under Never',
    pod: [withInitContainers('i'), withRestartPolicy('Never')],
    statuses: [aStatus('i', ended(1)), aStatus('main', WAITING)],
    want: 'Failed',
  },
  {
    name: 'an init container that failed waits to be restarted',
    pod: [withInitContainers('i')],
    statuses: [aStatus('i', WAITING, {lastState: ended(1)}), aStatus('main', WAITING)],
    want: 'Pending',
  },
  {
    name: 'initialised and running',
    pod: [withInitContainers('i')],
    statuses: [aStatus('i', ended(0)), aStatus('main', RUNNING)],
    want: 'Running',
  },
  {
    name: 'a sidecar that has not started holds a fresh pod back',
    pod: [withInitContainers(aSidecar())],
    statuses: [aStatus('side', RUNNING, {started: false}), aStatus('main', RUNNING)],
    want: 'Pending',
  },
  {
    name: 'a sidecar that restarts does not hold back a pod that has been through its initialisation',
    pod: [withInitContainers(aSidecar())],
    statuses: [aStatus('side', RUNNING, {started: false}), aStatus('main', RUNNING)],
    podHasInitialized: true,
    want: 'Running',
  },
  {
    name: 'a sidecar that has ended plays no part',
    pod: [withInitContainers(aSidecar()), withRestartPolicy('Never')],
    statuses: [aStatus('side', ended(1)), aStatus('main', ended(0))],
    want: 'Succeeded',
  },
  {
    name: 'a sidecar that runs keeps a finished pod running',
    pod: [withInitContainers(aSidecar()), withRestartPolicy('Never')],
    statuses: [aStatus('side', RUNNING, {started: true}), aStatus('main', ended(0))],
    want: 'Running',
  },
];

describe('the phase of a pod', () => {
  for (const {name, pod: changes = [], statuses, podIsTerminal = false, podHasInitialized = false, want} of cases) {
    test(`${name}: ${want}`, () => {
      const pod: Pod = aPod(...changes);
      expect(podPhase(pod, statuses, {podIsTerminal, podHasInitialized})).toBe(want);
    });
  }
});
