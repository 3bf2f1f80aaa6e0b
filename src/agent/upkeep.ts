// What an agent that looks after all pods does beside them, so that the disk does not fill up in the long run: dead
// containers are removed, logs rotated, unused images removed.
import type {Report} from '../core/events.js';
import type {InstanceRecords} from '../host/record-store.js';
import type {PodWorkersState} from '../core/pod-worker/types.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import type {AgentDeps} from './agent.js';
import {runContainerGC} from './container-gc.js';
import {manageContainerLogs} from './container-log-manager.js';
import {runImageGC} from './image-gc.js';
import type {Pleg} from './pleg.js';
import type {PodManager} from './pod-manager.js';
import type {Supervisor} from './supervisor.js';

export interface UpkeepDeps extends Pick<AgentDeps, 'runtime' | 'images' | 'clock' | 'logger' | 'config' | 'metrics'> {
  readonly report: Report;
  readonly supervisor: Supervisor;
  readonly kubeRuntime: KubeRuntime;
  readonly pleg: Pleg;
  readonly pods: PodManager;
  readonly workers: () => PodWorkersState;
  /** Whether what no source wants is unwanted. */
  readonly areSourcesReady: () => boolean;
  readonly records: InstanceRecords;
}

/** Starts the removal of dead containers and what else the configuration asks for; it ends with the supervisor. */
export function startUpkeep(deps: UpkeepDeps): void {
  const {supervisor, config, metrics} = deps;
  const {logRotation, imageGC} = config;
  const {signal} = supervisor;
  const keep = config.maxDeadContainersPerContainer;
  supervisor.run(() => runContainerGC({...deps, keep}, signal));
  if (logRotation !== null) supervisor.run(() => manageContainerLogs({...deps, policy: logRotation}, signal));
  if (imageGC === null) return;
  const gc = {
    policy: imageGC,
    records: deps.records.images,
    mountedImages: () => mountedImages(deps.pods),
    onCollected: () => metrics?.imageCollected(),
  };
  supervisor.run(() => runImageGC({...deps, ...gc}, signal));
}

function mountedImages(pods: PodManager): readonly string[] {
  return pods.all().flatMap(({pod}) => pod.spec.volumes?.flatMap(({image}) => image?.reference ?? []) ?? []);
}
