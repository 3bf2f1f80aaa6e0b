// What differs from the recorded kubelet on purpose: one list that the compare reads, the run prints and docs/parity.md
// holds.

/** Where a difference shows. */
export type Place =
  /** Fields of the pod's status. */
  | 'status'
  /** Fields of each container status. */
  | 'container status'
  /** Labels and annotations of sandbox and container configs, by the prefix of their keys. */
  | 'labels and annotations';

export interface Difference {
  readonly place: Place;
  readonly fields: readonly string[];
  /** Only of pods with hostNetwork. */
  readonly onlyHostNetwork?: true;
  readonly kubelet: string;
  readonly minikubelet: string;
  readonly reason: string;
  /** Words of the row of docs/parity.md that says so. */
  readonly parity: string;
}

const NODE_ADDRESS = {
  place: 'status',
  kubelet: 'absent (recorded without an API server)',
  minikubelet: "the node's address",
  reason: 'without an API server a kubelet does not know its own address; who reads the status of one machine wants it',
  parity: 'without an API server `hostIP(s)`, and `podIP(s)` of host-network pods, are absent',
} as const;

export const DIFFERENCES: readonly Difference[] = [
  {...NODE_ADDRESS, fields: ['hostIP', 'hostIPs']},
  {...NODE_ADDRESS, fields: ['podIP', 'podIPs'], onlyHostNetwork: true},
  {
    place: 'labels and annotations',
    fields: ['minikubelet.dev/'],
    kubelet: 'none',
    minikubelet: 'the instance, the definition and the source of the pod',
    reason: 'only what carries our label is ever stopped or removed, and the next process finds its pods by it',
    parity: '`minikubelet.dev/*` labels and annotations on sandboxes and containers',
  },
];

/** Fields that a kubelet has too and the recording left out: they differ with every run. */
export const NOT_RECORDED: readonly Pick<Difference, 'place' | 'fields'>[] = [
  {place: 'container status', fields: ['containerID', 'imageID']},
];

/** Names of the fields to leave out of a compare. */
export function leftOut(place: Place, isHostNetwork: boolean): readonly string[] {
  const meant = DIFFERENCES.filter(({onlyHostNetwork}) => isHostNetwork || onlyHostNetwork !== true);
  return [...meant, ...NOT_RECORDED].flatMap(one => (one.place === place ? one.fields : []));
}

/** Whether a label or annotation is only ours. */
export function isOurKey(key: string): boolean {
  return leftOut('labels and annotations', false).some(prefix => key.startsWith(prefix));
}

/** One line for each entry of both lists. */
export function differenceLines(): readonly string[] {
  return [
    ...DIFFERENCES.map(({place, fields, onlyHostNetwork, kubelet, minikubelet, reason}) => {
      const scope = onlyHostNetwork === true ? ' with hostNetwork' : '';
      return `differs on purpose: ${place} ${fields.join(', ')}${scope}: ${kubelet}; here ${minikubelet}: ${reason}`;
    }),
    ...NOT_RECORDED.map(({place, fields}) => `not recorded: ${place} ${fields.join(', ')}`),
  ];
}
