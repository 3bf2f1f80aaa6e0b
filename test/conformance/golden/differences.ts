// What differs from the recorded kubelet on purpose: one list that the compare reads, the run prints and docs/parity.md
// holds.

/** Where a difference shows. */
export type Place =
  /** A field of the pod's status. */
  | 'status'
  /** A field of each container status. */
  | 'container status'
  /** Labels and annotations of sandbox and container configs. */
  | 'labels and annotations';

export interface Difference {
  readonly place: Place;
  /** Name of the field; a prefix of keys where it ends in /. */
  readonly field: string;
  /** Only of pods with hostNetwork. */
  readonly onlyHostNetwork?: true;
  readonly kubelet: string;
  readonly minikubelet: string;
  readonly reason: string;
}

const NO_API_SERVER = 'a kubelet without an API server does not know its own address; a user of one machine wants it';

export const DIFFERENCES: readonly Difference[] = [
  {
    place: 'status',
    field: 'hostIP',
    kubelet: 'absent (recorded without an API server)',
    minikubelet: "the node's address",
    reason: NO_API_SERVER,
  },
  {
    place: 'status',
    field: 'hostIPs',
    kubelet: 'absent (recorded without an API server)',
    minikubelet: "the node's address",
    reason: NO_API_SERVER,
  },
  {
    place: 'status',
    field: 'podIP',
    onlyHostNetwork: true,
    kubelet: 'absent (recorded without an API server)',
    minikubelet: "the node's address",
    reason: NO_API_SERVER,
  },
  {
    place: 'status',
    field: 'podIPs',
    onlyHostNetwork: true,
    kubelet: 'absent (recorded without an API server)',
    minikubelet: "the node's address",
    reason: NO_API_SERVER,
  },
  {
    place: 'labels and annotations',
    field: 'minikubelet.dev/',
    kubelet: 'none',
    minikubelet: 'instance, definition and source of the pod',
    reason: 'only what carries our label is ever stopped or removed, and the next process finds its pods by it',
  },
];

/** Fields that a kubelet has too and the recording left out: they differ with every run. */
export const NOT_RECORDED: Readonly<Record<Exclude<Place, 'labels and annotations'>, readonly string[]>> = {
  status: [],
  'container status': ['containerID', 'imageID'],
};

/** Names of the fields to leave out of a compare. */
export function leftOut(place: Exclude<Place, 'labels and annotations'>, isHostNetwork: boolean): readonly string[] {
  const meant = DIFFERENCES.filter(one => one.place === place && (isHostNetwork || one.onlyHostNetwork !== true));
  return [...meant.map(({field}) => field), ...NOT_RECORDED[place]];
}

/** Whether a label or annotation is only ours. */
export function isOurKey(key: string): boolean {
  return DIFFERENCES.some(({place, field}) => place === 'labels and annotations' && key.startsWith(field));
}

export function describeDifference(one: Difference): string {
  const where = `${one.place} ${one.field}${one.onlyHostNetwork === true ? ' with hostNetwork' : ''}`;
  return `${where}: ${one.kubelet}; here ${one.minikubelet} (${one.reason})`;
}
