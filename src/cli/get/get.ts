// `get`: what is listed, and how a list or what changes in it is printed, in kubectl's formats.
import type {ObservedPod} from '../../agent/agent.js';
import {UsageError} from '../../core/errors.js';
import {podObject} from '../../core/status/pod-object.js';
import type {Image} from '../../cri/gen/cri.js';
import {asList, tableLines, toJson, toYaml, type OutputFormat, type TableView} from '../output/output.js';
import type {ColumnWidths} from '../output/table.js';
import {parseLabelSelector} from '../pods/label-selector.js';
import {mustFindPod} from '../pods/select-pods.js';
import type {Session} from '../session.js';
import {containerObject, containersOf, containerView, imageView, podView, type ContainerItem} from './get-views.js';

export type Resource = 'pods' | 'containers' | 'images';

const RESOURCE_WORDS: Readonly<Record<string, Resource>> = {
  pods: 'pods',
  pod: 'pods',
  po: 'pods',
  containers: 'containers',
  container: 'containers',
  images: 'images',
  image: 'images',
};

/** `get`, `get pods web`, `get pod/web`. Throws UsageError for a kind that there is not. */
export function parseGetWords(words: readonly string[]): {
  readonly resource: Resource;
  readonly names: readonly string[];
} {
  const [first = 'pods', ...rest] = words;
  const [kind = '', ...name] = first.split('/');
  const resource = RESOURCE_WORDS[kind.toLowerCase()];
  if (resource === undefined) {
    throw new UsageError(`${JSON.stringify(first)} cannot be listed`, {hint: 'there are pods, containers and images'});
  }
  return {resource, names: name.length === 0 ? rest : [name.join('/'), ...rest]};
}

export interface GetRequest {
  readonly names: readonly string[];
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  readonly selector: string | undefined;
  readonly nodeName: string;
  readonly format: OutputFormat;
  readonly headers: boolean;
  /** Ids only. */
  readonly quiet: boolean;
}

/** A kind of thing, and how it is shown. */
export interface Shown<Item> {
  /** For `No ... found`. */
  readonly plural: string;
  readonly key: (item: Item) => string;
  readonly name: (item: Item) => string;
  readonly id: (item: Item) => string;
  readonly object: (item: Item) => object;
  readonly view: (now: number) => TableView<Item>;
}

export function shownPods(request: GetRequest): Shown<ObservedPod> {
  return {
    plural: 'pods',
    key: ({pod}) => pod.metadata.uid,
    name: ({pod}) => `pod/${pod.metadata.name}`,
    id: ({pod}) => pod.metadata.uid,
    object: podObject,
    view(now) {
      const view = podView(now, request.allNamespaces);
      return {...view, row: ({pod, status}, wide) => view.row({...pod, status}, wide)};
    },
  };
}

export function shownContainers(request: GetRequest): Shown<ContainerItem> {
  return {
    plural: 'containers',
    key: ({pod, kind, status}) => `${pod.metadata.uid}/${kind}/${status.name}`,
    name: ({pod, status}) => `container/${pod.metadata.name}/${status.name}`,
    id: ({status}) => (status.containerID ?? '').replace(/^\w+:\/\//, ''),
    object: containerObject,
    view: now => containerView(now, request.allNamespaces),
  };
}

export const shownImages: Shown<Image> = {
  plural: 'images',
  key: ({id}) => id,
  name: ({id, repoTags}) => `image/${repoTags[0] ?? id}`,
  id: ({id}) => id,
  object: image => image,
  view: () => imageView,
};

/** The pods that are meant: by name, else by namespace; then by label. Throws UsageError for a name that there is not. */
export function selectPods(pods: readonly ObservedPod[], request: GetRequest): readonly ObservedPod[] {
  const matches = parseLabelSelector(request.selector ?? '');
  const byUid = new Map(pods.map(observed => [observed.pod.metadata.uid, observed]));
  const refs = pods.map(({pod}) => pod.metadata);
  const {names, namespace, allNamespaces, nodeName} = request;
  const scope = allNamespaces ? undefined : (namespace ?? 'default');
  const meant =
    names.length > 0
      ? names.map(name => mustFindPod(refs, {name, namespace: allNamespaces ? undefined : namespace, nodeName}))
      : refs.filter(ref => scope === undefined || ref.namespace === scope);
  return meant.flatMap(({uid}) => byUid.get(uid) ?? []).filter(({pod}) => matches(pod.metadata.labels));
}

export function selectContainers(pods: readonly ObservedPod[], request: GetRequest): readonly ContainerItem[] {
  return selectPods(pods, request).flatMap(({pod, status}) => containersOf({...pod, status}));
}

export function selectImages(images: readonly Image[], request: GetRequest): readonly Image[] {
  const {names} = request;
  const answersTo = (image: Image, name: string): boolean =>
    [image.id, ...image.repoTags, ...image.repoDigests].some(known => known === name || known.endsWith(`/${name}`));
  const found = names.length === 0 ? images : images.filter(image => names.some(name => answersTo(image, name)));
  // Images without a name come last.
  const orderOf = ({repoTags, id}: Image): string => repoTags[0] ?? `\uffff${id}`;
  return found.toSorted((left, right) => (orderOf(left) < orderOf(right) ? -1 : 1));
}

/** Prints a list as a whole. Finding nothing is said on standard error. */
export async function printList<Item>(
  session: Session,
  shown: Shown<Item>,
  items: readonly Item[],
  request: GetRequest,
): Promise<void> {
  const {format, headers} = request;
  if (request.quiet) session.out(...items.map(shown.id));
  else if (format === 'json') session.out(toJson(asList(items.map(shown.object), request.names.length === 1)));
  else if (format === 'yaml') session.out(await toYaml(asList(items.map(shown.object), request.names.length === 1)));
  else if (format === 'name') session.out(...items.map(shown.name));
  else if (items.length > 0) session.out(...tableLines(items, shown.view(session.clock.now()), {format, headers}));
  if (items.length === 0) session.err(`No ${shown.plural} found${scopeNote(shown, request)}.`);
}

function scopeNote(shown: {readonly plural: string}, {allNamespaces, namespace}: GetRequest): string {
  return allNamespaces || shown.plural === 'images' ? '' : ` in ${namespace ?? 'default'} namespace`;
}

/** Prints what is new in each list it is given: table rows, or one JSON object a line with the type of the change. */
export function changePrinter<Item>(
  session: Pick<Session, 'out' | 'clock'>,
  shown: Shown<Item>,
  request: GetRequest,
): (items: readonly Item[]) => Promise<void> {
  const widths: ColumnWidths = [];
  let headers = request.headers;
  let before = new Map<string, {readonly item: Item; readonly text: string}>();
  return async items => {
    const now = new Map(items.map(item => [shown.key(item), {item, text: toJson(shown.object(item), true)}]));
    const news = items.filter(item => before.get(shown.key(item))?.text !== now.get(shown.key(item))?.text);
    const gone = [...before].filter(([key]) => !now.has(key)).map(([, {item}]) => item);
    const typeOf = (item: Item): string => (before.has(shown.key(item)) ? 'MODIFIED' : 'ADDED');
    if (request.format === 'json' || request.format === 'yaml') {
      const changes = [
        ...news.map(item => [typeOf(item), item] as const),
        ...gone.map(item => ['DELETED', item] as const),
      ];
      for (const [type, item] of changes) session.out(await changeText(request.format, type, shown.object(item)));
    } else if (request.format === 'name' || request.quiet) {
      session.out(...news.map(request.quiet ? shown.id : shown.name));
    } else if (news.length > 0) {
      session.out(...tableLines(news, shown.view(session.clock.now()), {format: request.format, headers, widths}));
      headers = false;
    }
    before = now;
  };
}

async function changeText(format: 'json' | 'yaml', type: string, object: object): Promise<string> {
  return format === 'json' ? toJson({type, object}, true) : `---\n${await toYaml({type, object})}`;
}
