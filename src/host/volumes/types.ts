// What the volume manager is given and what it answers. Mirrors kubelet v1.36 pkg/volume and
// pkg/kubelet/kubelet_pods.go makeMounts.
import type {ConfigMap, Container, EphemeralContainer, Pod, Secret, Volume} from '../../core/pod/types.js';
import type {Mount} from '../../cri/gen/cri.js';
import type {Clock} from '../../lib/clock.js';
import type {Logger} from '../../lib/logger.js';
import type {InstanceDirs} from '../pod-dirs.js';

export interface VolumeManagerDeps {
  readonly dirs: InstanceDirs;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Objects that volumes refer to. undefined = there is none of that name. */
export interface VolumeObjects {
  readonly configMap: (namespace: string, name: string) => ConfigMap | undefined;
  readonly secret: (namespace: string, name: string) => Secret | undefined;
}

/** What of the host shows through the downward API and sizes. */
export interface VolumeNodeFacts {
  /** Allocatable resources by name, as API quantities: stand in for limits that a container does not set. */
  readonly allocatable: Readonly<Record<string, string>>;
}

export interface PodVolumesInput {
  readonly pod: Pod;
  readonly objects: VolumeObjects;
  readonly node: VolumeNodeFacts;
}

export interface ContainerMountsInput {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  /** Variables that subPathExpr may refer to: the container's own, resolved. */
  readonly env: Readonly<Record<string, string>>;
  /** Pulled images of image volumes, by volume name. */
  readonly imageVolumes: ReadonlyMap<string, {readonly image: string; readonly imageRef: string}>;
  /** Whether the runtime handler knows recursive read-only mounts. */
  readonly supportsRecursiveReadOnly: boolean;
  /** Text of the managed /etc/hosts; null = this pod has none yet (no address). */
  readonly hostsFile: string | null;
}

export interface VolumeManager {
  /**
   * Makes every volume that a container of the pod mounts, and brings the content of ConfigMap, Secret, downward API and
   * projected volumes up to date. Idempotent: called at each sync. Rejects with VolumeError when one cannot be made; the others
   * are made nevertheless.
   */
  mountPodVolumes(input: PodVolumesInput, signal: AbortSignal): Promise<void>;

  /**
   * The mounts of one container in the kubelet's order: its volumeMounts, then /etc/hosts. Makes subPaths and checks host
   * paths. Rejects with PodError (CreateContainerConfigError). The volumes must be mounted.
   */
  containerMounts(input: ContainerMountsInput, signal: AbortSignal): Promise<readonly Mount[]>;

  /** Unmounts and removes all volumes of a pod, subPaths first. Idempotent. Rejects with VolumeError when one stays. */
  unmountPod(uid: string, signal: AbortSignal): Promise<void>;

  /** Uids below the pods directory that are not in `known`: what a crash left. */
  orphans(known: ReadonlySet<string>): Promise<readonly string[]>;
}

/** A volume of a spec that some container mounts, with its place on the host. */
export interface PlannedVolume {
  readonly volume: Volume;
  /** The API's plugin name, e.g. kubernetes.io/empty-dir. */
  readonly plugin: string;
}

/** A volume that could not be set up or taken down. `message` is what the kubelet's FailedMount event says. */
export class VolumeError extends Error {
  readonly volume: string;

  constructor(volume: string, message: string, details: {readonly cause?: unknown} = {}) {
    super(message, details.cause === undefined ? {} : {cause: details.cause});
    this.name = 'VolumeError';
    this.volume = volume;
  }
}
