// Complete snapshots of each source in, changes of single pods out.
// Mirrors kubelet v1.36 pkg/kubelet/config/config.go podStorage.merge, with a rule across sources of our own.
import type {ManifestPosition, ManifestProblem} from './errors.js';
import type {ConfigMap, Pod, RuntimeClass, Secret} from './pod/types.js';

/** A pod as a source defines it. */
export interface SourcedPod {
  readonly pod: Pod;
  /** Where it is defined; `file` is a path, a URL or a key, by the kind of source. */
  readonly position: ManifestPosition;
}

/** Objects that pods of any source may refer to. */
export interface Companions {
  readonly configMaps: readonly ConfigMap[];
  readonly secrets: readonly Secret[];
  readonly runtimeClasses: readonly RuntimeClass[];
}

/** Everything a source defines at one moment. */
export interface SourceSnapshot {
  /** The kubelet's word for it: file, http, api; ours: server, etcd. */
  readonly source: string;
  readonly pods: readonly SourcedPod[];
  readonly companions: Companions;
  /** What is wrong with it. A place with an error keeps its last good pods, if the source has seen any. */
  readonly problems: readonly ManifestProblem[];
}
