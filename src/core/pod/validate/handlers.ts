// Probes and lifecycle hooks.
// Mirrors kubernetes v1.36 pkg/apis/core/validation validateProbe, validateHandler, validateLifecycle.
import type {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  IntOrString,
  Lifecycle,
  PodSpec,
  Probe,
  SleepAction,
  TCPSocketAction,
} from '../types.js';
import {httpHeaderName, portName, portNumber} from './names.js';
import {forbidden, invalid, invalidFor, notNegative, notSupported, required, type Problems} from './problem.js';

interface Handler {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly tcpSocket?: TCPSocketAction;
  readonly grpc?: GRPCAction;
  readonly sleep?: SleepAction;
}

type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe';
const PROBE_KINDS: readonly ProbeKind[] = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** The probes of a container that may have some. */
export function* probes(path: string, container: Partial<Record<ProbeKind, Probe>>, spec: PodSpec): Problems {
  for (const kind of PROBE_KINDS) {
    const probe = container[kind];
    if (probe !== undefined) yield* oneProbe(`${path}.${kind}`, kind, probe, spec);
  }
}

function* oneProbe(path: string, kind: ProbeKind, probe: Probe, spec: PodSpec): Problems {
  yield* handler(path, probe, spec);
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    yield* notNegative(`${path}.${field}`, probe[field]);
  }
  const grace = probe.terminationGracePeriodSeconds;
  const gracePath = `${path}.terminationGracePeriodSeconds`;
  if (grace !== undefined && grace <= 0) yield invalid(gracePath, grace, 'must be greater than 0');
  if (kind !== 'readinessProbe') {
    const threshold = probe.successThreshold ?? 0;
    if (threshold !== 1) yield invalid(`${path}.successThreshold`, threshold, 'must be 1');
  } else if (grace !== undefined) yield invalid(gracePath, grace, 'must not be set for readinessProbes');
}

export function* lifecycle(path: string, hooks: Lifecycle, spec: PodSpec): Problems {
  if (hooks.postStart !== undefined) yield* handler(`${path}.postStart`, hooks.postStart, spec);
  if (hooks.preStop !== undefined) yield* handler(`${path}.preStop`, hooks.preStop, spec);
  if (hooks.stopSignal !== undefined) yield* stopSignal(`${path}.stopSignal`, hooks.stopSignal, spec);
}

function* stopSignal(path: string, signal: string, spec: PodSpec): Problems {
  const os = spec.os?.name ?? '';
  if (os === '') yield forbidden(path, 'may not be set for containers with empty `spec.os.name`');
  else if (os === 'windows') {
    if (signal !== 'SIGTERM' && signal !== 'SIGKILL') yield notSupported(path, signal, ['SIGKILL', 'SIGTERM']);
  } else if (!STOP_SIGNALS.includes(signal)) yield notSupported(path, signal, STOP_SIGNALS);
}

const realTimeSignals = Array.from({length: 31}, (_, index) =>
  index <= 15 ? `SIGRTMIN${index === 0 ? '' : `+${index}`}` : `SIGRTMAX${index === 30 ? '' : `-${30 - index}`}`,
);
const STOP_SIGNALS = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ'
    .split(' ')
    .map(name => `SIG${name}`),
  ...realTimeSignals,
].sort();

function* handler(path: string, given: Handler, spec: PodSpec): Problems {
  const kinds: readonly (readonly [keyof Handler, () => Problems])[] = [
    ['exec', () => exec(`${path}.exec`, given.exec)],
    ['httpGet', () => httpGet(`${path}.httpGet`, given.httpGet)],
    ['tcpSocket', () => port(`${path}.tcpSocket.port`, given.tcpSocket?.port ?? 0)],
    ['grpc', () => port(`${path}.grpc.port`, given.grpc?.port ?? 0)],
    ['sleep', () => sleep(`${path}.sleep`, given.sleep, spec)],
  ];
  let count = 0;
  for (const [kind, rules] of kinds) {
    if (given[kind] === undefined) continue;
    if (count++ > 0) yield forbidden(`${path}.${kind}`, 'may not specify more than 1 handler type');
    else yield* rules();
  }
  if (count === 0) yield required(path, 'must specify a handler type');
}

function* exec(path: string, action: ExecAction | undefined): Problems {
  if ((action?.command ?? []).length === 0) yield required(`${path}.command`);
}

function* httpGet(path: string, action: HTTPGetAction | undefined): Problems {
  if (action === undefined) return;
  if ((action.path ?? '') === '') yield required(`${path}.path`);
  yield* port(`${path}.port`, action.port);
  const scheme = action.scheme ?? '';
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') yield notSupported(`${path}.scheme`, scheme, ['HTTP', 'HTTPS']);
  for (const {name} of action.httpHeaders ?? []) yield* invalidFor(`${path}.httpHeaders`, name, httpHeaderName(name));
}

function* port(path: string, value: IntOrString): Problems {
  yield* invalidFor(path, value, typeof value === 'number' ? portNumber(value) : portName(value));
}

function* sleep(path: string, action: SleepAction | undefined, spec: PodSpec): Problems {
  const grace = spec.terminationGracePeriodSeconds;
  const seconds = action?.seconds ?? 0;
  if (grace !== undefined && (seconds < 0 || seconds > grace)) {
    yield invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`);
  }
}
