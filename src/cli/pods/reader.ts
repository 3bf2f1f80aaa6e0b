// What commands that only look need: the pods of the root directory as they stand, from the agent that runs there or, when
// none does, from the runtime; and the runtime itself where it is asked for.
import type {ObservedPod} from '../../agent/agent.js';
import type {ApiAddress} from '../../api/client.js';
import {instanceOf} from '../../core/instance.js';
import type {RuntimeConnection} from '../../cri/connect.js';
import type {GlobalFlags} from '../base-command.js';
import {rootDirOf} from '../paths.js';
import {connectTo} from '../runtime/connect.js';
import type {Session} from '../session.js';
import type {ObserveDeps} from './observe.js';

export interface Reader {
  /** Pods by namespace and name. Rejects as connectTo does, and with CriError. */
  pods(): Promise<readonly ObservedPod[]>;
  /** The runtime, connected to when it is first asked for. Rejects as connectTo does. */
  connection(): Promise<RuntimeConnection>;
  /** Something with each thing that happens to pods, as the agent tells it or, where none runs, the runtime. Rejects as pods(). */
  changes(signal: AbortSignal): AsyncIterable<unknown>;
  /** What reading pods of this instance from the runtime takes. */
  runtimeDeps(): Promise<ObserveDeps>;
  close(): Promise<void>;
}

/** A busy agent may take a while; one that hangs must not keep `get` from asking the runtime. */
const AGENT_ANSWERS_MS = 2000;

export function openReader(flags: GlobalFlags, session: Session): Reader {
  const rootDir = rootDirOf(flags);
  let connecting: Promise<RuntimeConnection> | null = null;
  const connection = (): Promise<RuntimeConnection> => (connecting ??= connectTo(flags, session, 'use'));
  const runtimeDeps = async (): Promise<ObserveDeps> => {
    const {runtime, version} = await connection();
    const {instanceRecords} = await import('../../host/record-store.js');
    return {
      runtime,
      runtimeName: version.runtimeName,
      instance: instanceOf(rootDir),
      records: instanceRecords(rootDir),
      now: () => session.clock.now(),
    };
  };
  return {
    connection,
    runtimeDeps,
    async pods() {
      const known = await podsOfAgent(rootDir, session);
      if (known !== null) return known;
      const {observePods} = await import('./observe.js');
      return observePods(await runtimeDeps(), session.signal);
    },
    async *changes(signal) {
      const {followEvents} = await import('../../api/client.js');
      const told = await followEvents(await agentAddress(rootDir, session), signal);
      yield* told ?? (await connection()).runtime.events(signal);
    },
    async close() {
      const opened = await connecting?.catch(() => null);
      opened?.close();
    },
  };
}

/** null = no agent runs for this root directory. */
async function podsOfAgent(rootDir: string, session: Session): Promise<readonly ObservedPod[] | null> {
  const {readPods} = await import('../../api/client.js');
  return readPods(await agentAddress(rootDir, session), session.signal);
}

async function agentAddress(rootDir: string, {clock}: Session): Promise<ApiAddress> {
  const {apiSocketPath} = await import('../../api/socket-path.js');
  return {socketPath: apiSocketPath(rootDir), clock, timeoutMs: AGENT_ANSWERS_MS};
}
