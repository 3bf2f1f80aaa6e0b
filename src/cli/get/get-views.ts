// How each kind of thing that `get` shows looks as a table and as an object.
import type {ContainerStatus, Pod} from '../../core/pod/types.js';
import type {Image} from '../../cri/gen/cri.js';
import type {TableView} from '../output/output.js';
import {ageText, podRow} from './pod-row.js';

export function podView(now: number, allNamespaces: boolean): TableView<Pod> {
  const first = allNamespaces ? ['NAMESPACE'] : [];
  return {
    header: [...first, 'NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
    wideHeader: ['IP', 'NODE'],
    row(pod, wide) {
      const row = podRow(pod, now);
      const own = allNamespaces ? [row.namespace] : [];
      const more = wide ? [row.ip, row.node] : [];
      return [...own, row.name, row.ready, row.status, row.restarts, row.age, ...more];
    },
  };
}

/** One container of a pod. */
export interface ContainerItem {
  readonly pod: Pod;
  readonly kind: 'init' | 'sidecar' | 'container' | 'ephemeral';
  readonly status: ContainerStatus;
}

/** Init containers first, in the order of the spec. */
export function containersOf(pod: Pod): readonly ContainerItem[] {
  const {initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = []} = pod.status ?? {};
  const sidecars = (pod.spec.initContainers ?? []).filter(one => one.restartPolicy === 'Always').map(({name}) => name);
  return [
    ...initContainerStatuses.map(status => {
      const kind = sidecars.includes(status.name) ? ('sidecar' as const) : ('init' as const);
      return {pod, kind, status};
    }),
    ...containerStatuses.map(status => ({pod, kind: 'container' as const, status})),
    ...ephemeralContainerStatuses.map(status => ({pod, kind: 'ephemeral' as const, status})),
  ];
}

export function containerObject({pod, kind, status}: ContainerItem): object {
  const {namespace, name, uid} = pod.metadata;
  return {pod: {namespace, name, uid}, type: kind, ...status};
}

export function containerView(now: number, allNamespaces: boolean): TableView<ContainerItem> {
  const first = allNamespaces ? ['NAMESPACE'] : [];
  return {
    header: [...first, 'POD', 'CONTAINER', 'TYPE', 'STATE', 'READY', 'RESTARTS', 'SINCE'],
    wideHeader: ['IMAGE', 'CONTAINER-ID'],
    row({pod, kind, status}, wide) {
      const own = allNamespaces ? [pod.metadata.namespace] : [];
      const {state = {}} = status;
      const since = state.running?.startedAt ?? state.terminated?.finishedAt;
      const more = wide ? [status.image, shortId(status.containerID ?? '')] : [];
      const restarts = String(status.restartCount);
      const age = since === undefined ? '' : ageText(since, now);
      return [
        ...own,
        pod.metadata.name,
        status.name,
        kind,
        stateWord(status),
        String(status.ready),
        restarts,
        age,
        ...more,
      ];
    },
  };
}

/** `Running`, `CrashLoopBackOff`, `Error (1)` */
export function stateWord({state = {}}: ContainerStatus): string {
  if (state.running !== undefined) return 'Running';
  if (state.terminated !== undefined)
    return `${state.terminated.reason ?? 'Terminated'} (${state.terminated.exitCode})`;
  return state.waiting?.reason ?? 'Waiting';
}

export const imageView: TableView<Image> = {
  header: ['IMAGE', 'TAG', 'IMAGE ID', 'SIZE'],
  wideHeader: ['DIGEST'],
  row(image, wide) {
    const {name, tag} = splitReference(image.repoTags[0] ?? image.repoDigests[0] ?? '');
    const digest = image.repoDigests[0]?.split('@')[1] ?? '<none>';
    return [name, tag, shortId(image.id), sizeText(image.size), ...(wide ? [digest] : [])];
  },
};

function splitReference(reference: string): {readonly name: string; readonly tag: string} {
  const [name = ''] = reference.split('@');
  const colon = name.lastIndexOf(':');
  const isTag = colon > name.lastIndexOf('/');
  return {name: (isTag ? name.slice(0, colon) : name) || '<none>', tag: isTag ? name.slice(colon + 1) : '<none>'};
}

/** As crictl shortens ids: 13 digits, without scheme or algorithm. */
function shortId(id: string): string {
  return id.replace(/^\w+:(\/\/)?/, '').slice(0, 13);
}

/** Decimal units, three digits, as crictl. */
export function sizeText(bytes: bigint): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${Number(value.toPrecision(3))}${units[unit] ?? ''}`;
}
