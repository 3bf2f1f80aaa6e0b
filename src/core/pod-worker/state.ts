// What every step of the state machine starts from and builds on.
import {PersistentMap} from '../../lib/persistent-map.js';
import type {PodWorker, PodWorkersState} from './types.js';

export const initialPodWorkers: PodWorkersState = {
  podsSynced: false,
  workers: PersistentMap.empty(),
  names: PersistentMap.empty(),
};

export function put(state: PodWorkersState, worker: PodWorker): PodWorkersState {
  return {...state, workers: state.workers.with(worker.uid, worker)};
}

/** Lets the worker go on with what it did last, if nothing newer is pending. */
export function withLastUpdate(worker: PodWorker): PodWorker {
  return worker.pending === null ? {...worker, pending: worker.active} : worker;
}
