// What commands that only look need: a runtime that answers, and the pods of the root directory as they stand.
import type {ObservedPod} from '../agent/agent.js';
import {instanceOf} from '../core/instance.js';
import type {RuntimeConnection} from '../cri/connect.js';
import type {GlobalFlags} from './base-command.js';
import type {ObserveDeps} from './observe.js';
import {rootDirOf} from './paths.js';
import {connectTo} from './runtime.js';
import type {Session} from './session.js';

export interface Reader extends ObserveDeps {
  readonly connection: RuntimeConnection;
  /** Pods by namespace and name. Rejects with CriError. */
  pods(): Promise<readonly ObservedPod[]>;
  close(): void;
}

/** Rejects as connectTo does. */
export async function openReader(flags: GlobalFlags, session: Session): Promise<Reader> {
  const connection = await connectTo(flags, session, 'use');
  const {observePods} = await import('./observe.js');
  const {instanceRecords} = await import('../host/record-store.js');
  const rootDir = rootDirOf(flags);
  const deps: ObserveDeps = {
    runtime: connection.runtime,
    runtimeName: connection.version.runtimeName,
    instance: instanceOf(rootDir),
    records: instanceRecords(rootDir),
    now: () => session.clock.now(),
  };
  return {...deps, connection, pods: () => observePods(deps, session.signal), close: () => connection.close()};
}
