// What a recording proxy saw, sorted by pod and told in the form of the recorded traces.
import type {
  CreateContainerRequest,
  CreateContainerResponse,
  ExecSyncRequest,
  PodSandboxConfig,
  PodSandboxStatusResponse,
  RunPodSandboxRequest,
  RunPodSandboxResponse,
  StopContainerRequest,
} from '../../../src/cri/gen/cri.js';
import type {RecordedCall} from '../../fakes/scripted-calls.js';
import {configJson} from './config-json.js';
import type {GoldenCall, TracedCall} from './types.js';

export interface PodTrace {
  /** namespace/name. */
  readonly pod: string;
  readonly uid: string;
  readonly calls: readonly TracedCall[];
  /** Of its sandboxes and containers. */
  readonly ids: readonly string[];
  /** As the runtime last told it; '' = it told none. */
  readonly podIP: string;
}

interface Sandbox {
  readonly uid: string;
  readonly attempt: number;
}

interface Container extends Sandbox {
  readonly name: string;
}

type Traced = readonly [uid: string, GoldenCall];

/** Traces by uid. Calls about what no recorded call has made are left out. */
export function podTraces(calls: readonly RecordedCall[]): ReadonlyMap<string, PodTrace> {
  const traces = new Map<string, Pick<PodTrace, 'pod' | 'uid'> & {calls: TracedCall[]}>();
  const sandboxes = new Map<string, Sandbox>();
  const containers = new Map<string, Container>();
  for (const record of calls) {
    remember(record, sandboxes, containers);
    const traced = goldenCall(record, sandboxes, containers);
    if (traced === undefined) continue;
    const [uid, call] = traced;
    const trace = traces.get(uid) ?? {uid, pod: podOf(record), calls: []};
    traces.set(uid, trace);
    const {outcome} = record;
    const failed = outcome !== null && outcome.error !== undefined;
    trace.calls.push({...call, at: record.at, endedAt: outcome?.at ?? null, failed});
  }
  const made = [...sandboxes, ...containers];
  const ips = addressesOf(calls);
  return new Map(
    [...traces].map(([uid, trace]) => {
      const ids = made.flatMap(([id, of]) => (of.uid === uid ? id : []));
      return [uid, {...trace, ids, podIP: ids.map(id => ips.get(id) ?? '').findLast(ip => ip !== '') ?? ''}];
    }),
  );
}

/** Of sandboxes, by their id. */
function addressesOf(calls: readonly RecordedCall[]): ReadonlyMap<string, string> {
  const told = calls.flatMap(({rpc, outcome}) => {
    const {status} = (rpc === 'PodSandboxStatus' ? (outcome?.answer ?? {}) : {}) as Partial<PodSandboxStatusResponse>;
    return status?.network?.ip ? [[status.id, status.network.ip] as const] : [];
  });
  return new Map(told);
}

/** Of the first call about a pod, which is RunPodSandbox. */
function podOf({request}: RecordedCall): string {
  const {config} = request as RunPodSandboxRequest;
  return `${config?.metadata?.namespace}/${config?.metadata?.name}`;
}

function remember(record: RecordedCall, sandboxes: Map<string, Sandbox>, containers: Map<string, Container>): void {
  const answer: unknown = record.outcome?.answer;
  if (answer === undefined) return;
  if (record.rpc === 'RunPodSandbox') {
    const {config} = record.request as RunPodSandboxRequest;
    sandboxes.set((answer as RunPodSandboxResponse).podSandboxId, sandboxOf(config));
  } else if (record.rpc === 'CreateContainer') {
    const {podSandboxId, config} = record.request as CreateContainerRequest;
    const {name = '', attempt = 0} = config?.metadata ?? {};
    const uid = sandboxes.get(podSandboxId)?.uid ?? '';
    containers.set((answer as CreateContainerResponse).containerId, {uid, name, attempt});
  }
}

function sandboxOf(config: PodSandboxConfig | undefined): Sandbox {
  const {uid = '', attempt = 0} = config?.metadata ?? {};
  return {uid, attempt};
}

function goldenCall(
  {rpc, request}: RecordedCall,
  sandboxes: ReadonlyMap<string, Sandbox>,
  containers: ReadonlyMap<string, Container>,
): Traced | undefined {
  switch (rpc) {
    case 'RunPodSandbox': {
      const {config} = request as RunPodSandboxRequest;
      return config && [sandboxOf(config).uid, {call: rpc, config: configJson(config)}];
    }
    case 'CreateContainer': {
      const {podSandboxId, config} = request as CreateContainerRequest;
      const sandbox = sandboxes.get(podSandboxId);
      return sandbox && config && [sandbox.uid, {call: rpc, config: configJson(config)}];
    }
    case 'StopPodSandbox':
    case 'RemovePodSandbox': {
      const sandbox = sandboxes.get((request as {podSandboxId: string}).podSandboxId);
      return sandbox && [sandbox.uid, {call: rpc, attempt: sandbox.attempt}];
    }
    case 'StartContainer':
    case 'RemoveContainer':
    case 'ExecSync':
    case 'StopContainer': {
      const found = containers.get((request as {containerId: string}).containerId);
      if (found === undefined) return undefined;
      const {uid, name: container, attempt} = found;
      return [uid, {call: rpc, container, attempt, ...extras(rpc, request)}];
    }
    default:
      return undefined;
  }
}

function extras(rpc: string, request: unknown): Pick<GoldenCall, 'cmd' | 'timeout'> {
  const {cmd, timeout} = request as Partial<ExecSyncRequest & StopContainerRequest>;
  if (rpc === 'ExecSync') return {cmd: cmd ?? [], timeout: String(timeout ?? 0n)};
  return rpc === 'StopContainer' ? {timeout: String(timeout ?? 0n)} : {};
}
