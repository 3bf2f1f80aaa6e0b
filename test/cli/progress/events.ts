// A short life of two pods, as the agent reports it, for the views of progress.
import type {AgentEvent} from '../../../src/core/events.js';
import type {PodStatus} from '../../../src/core/pod/types.js';

const at = Date.UTC(2026, 0, 1);
export const web = {uid: 'u-web', name: 'web-box', namespace: 'default'};
export const job = {uid: 'u-job', name: 'job-box', namespace: 'batch'};

export const upStatus: PodStatus = {
  phase: 'Running',
  conditions: [{type: 'Ready', status: 'True'}],
  containerStatuses: [
    {name: 'main', image: 'busybox', imageID: '', ready: true, restartCount: 0, state: {running: {}}},
  ],
};

export const crashStatus: PodStatus = {
  phase: 'Running',
  containerStatuses: [
    {
      name: 'main',
      image: 'busybox',
      imageID: '',
      ready: false,
      restartCount: 2,
      state: {waiting: {reason: 'CrashLoopBackOff', message: 'back-off 10s'}},
    },
  ],
};

export const story: readonly AgentEvent[] = [
  {kind: 'notice', at, level: 'info', message: 'using the embedded runtime'},
  {kind: 'pod-added', at, pod: web, source: 'file'},
  {kind: 'step-started', at, pod: web, step: 'CreatePodSandbox', target: 'u-web'},
  {kind: 'step-finished', at, pod: web, step: 'CreatePodSandbox', target: 'u-web', error: null},
  {kind: 'step-started', at, pod: web, step: 'PullImage', target: 'main', detail: 'busybox:1.36'},
  {
    kind: 'pull-progress',
    at,
    pod: web,
    image: 'busybox:1.36',
    elapsedMs: 1500,
    bytes: {done: 2_500_000, total: 4_260_000},
  },
  {kind: 'step-finished', at, pod: web, step: 'PullImage', target: 'main', error: null},
  {
    kind: 'recorded',
    at,
    pod: web,
    type: 'Normal',
    reason: 'Pulled',
    message: 'Successfully pulled image "busybox:1.36"',
    fieldPath: 'spec.containers{main}',
  },
  {kind: 'step-started', at, pod: web, step: 'StartContainer', target: 'main'},
  {kind: 'step-finished', at, pod: web, step: 'StartContainer', target: 'main', error: null},
  {kind: 'status', at, pod: web, status: upStatus},
  {kind: 'pod-removed', at, pod: job, source: 'file'},
  {
    kind: 'step-finished',
    at,
    pod: job,
    step: 'StartContainer',
    target: 'main',
    error: {reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container=main'},
  },
  {
    kind: 'recorded',
    at,
    pod: job,
    type: 'Warning',
    reason: 'BackOff',
    message: 'Back-off restarting failed container main\nin pod job-box\u001b[2J',
    fieldPath: 'spec.containers{main}',
  },
  {
    kind: 'step-finished',
    at,
    pod: job,
    step: 'PullImage',
    target: 'main',
    error: {reason: 'ErrImagePull', message: 'not found'},
  },
  {kind: 'pod-terminated', at, pod: job},
  {
    kind: 'notice',
    at,
    level: 'warning',
    message: 'defined twice',
    pod: web,
    position: {file: 'pods/b.yaml', line: 3, column: 1},
  },
];
