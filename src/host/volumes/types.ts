// What the volume manager is given and what it answers. Mirrors kubelet v1.36 pkg/volume and
// pkg/kubelet/kubelet_pods.go makeMounts.
import type {Container, EphemeralContainer, Pod} from '../../core/pod/types.js';
import type {PayloadSources} from '../../core/volumes/payload.js';
import type {Mount} from '../../cri/gen/cri.js';
import type {Clock} from '../../lib/clock.js';
import type {Logger} from '../../lib/logger.js';
import type {InstanceDirs} from '../pod-dirs.js';

export interface VolumeManagerDeps {
  readonly dirs: InstanceDirs;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Memory that pods may use in all, as an API quantity; undefined = not known. */
  readonly allocatableMemory: string | undefined;
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
  /** Text of the managed /etc/hosts; null = this pod gets none (it has no address of its own yet). */
  readonly hostsFile: string | null;
}

export interface VolumeManager {
  /**
   * Makes every volume that a container of the pod mounts, and brings the content of ConfigMap, Secret, downward API and
   * projected volumes up to date. Idempotent: called at each sync. Rejects with the first volume's VolumeError; the other
   * volumes are made nevertheless.
   */
  mountPodVolumes(pod: Pod, sources: PayloadSources, signal: AbortSignal): Promise<void>;

  /**
   * The mounts of one container in the kubelet's order: its volumeMounts, then /etc/hosts. Makes subPaths and checks host
   * paths. Rejects with PodError (CreateContainerConfigError). The pod's volumes must be mounted.
   */
  containerMounts(input: ContainerMountsInput, signal: AbortSignal): Promise<readonly Mount[]>;

  /** Unmounts and removes all volumes of a pod, subPaths first. Idempotent. Rejects with VolumeError when one stays. */
  unmountPod(uid: string): Promise<void>;
}

/** A volume that could not be set up or taken down. `message` is what the kubelet's FailedMount event says. */
export class VolumeError extends Error {
  /** '' = all volumes of a pod. */
  readonly volume: string;

  constructor(volume: string, message: string, details: {readonly cause?: unknown} = {}) {
    super(message, details.cause === undefined ? {} : {cause: details.cause});
    this.name = 'VolumeError';
    this.volume = volume;
  }
}
