// Requests and limits that follow from one another, in a container and between containers and the pod as a whole.
// Mirrors kubelet v1.36 pkg/apis/core/v1 defaults.go SetDefaults_Pod, defaultHugePagePodLimits, defaultPodRequests.
import type {DefaultRule} from './defaults-table.js';
import {containerRequests} from './pod-limits.js';
import {isPodLevelResource} from './pod-requests.js';
import {formatQuantity} from './quantity.js';
import type * as api from './types.gen.js';

type ResourceList = Readonly<Record<string, string>>;

/** A limit without a request is the request too. */
export function defaultRequests(spec: api.PodSpec): api.PodSpec {
  const complete = (container: api.Container): api.Container => {
    const {limits, requests} = container.resources ?? {};
    return limits === undefined
      ? container
      : {...container, resources: {...container.resources, requests: {...limits, ...requests}}};
  };
  return {
    ...spec,
    containers: spec.containers.map(complete),
    ...(spec.initContainers !== undefined && {initContainers: spec.initContainers.map(complete)}),
  };
}

/** Fills the pod-level resources of a pod that sets some of them from what its containers ask for. */
export function defaultPodResources(spec: api.PodSpec, rules: ReadonlySet<DefaultRule>): api.PodSpec {
  if (spec.resources === undefined) return spec;
  let result = spec;
  if (rules.has('pod-level-hugepage-limits')) result = defaultHugePageLimits(result);
  if (rules.has('pod-level-requests')) result = defaultPodRequests(result);
  return result;
}

function defaultHugePageLimits(spec: api.PodSpec): api.PodSpec {
  const {limits = {}, requests = {}} = spec.resources ?? {};
  if (isEmpty(limits) && isEmpty(requests)) return spec;
  const inherited = select(
    aggregate(spec, container => container.resources?.limits),
    name => name.startsWith('hugepages-') && !Object.hasOwn(requests, name) && !Object.hasOwn(limits, name),
  );
  return withResources(spec, {limits: {...inherited, ...limits}});
}

/** Only with pod-level limits: what the containers request together, and the limit where none requests anything. */
function defaultPodRequests(spec: api.PodSpec): api.PodSpec {
  const {limits = {}, requests = {}} = spec.resources ?? {};
  if (isEmpty(limits)) return spec;
  const fromContainers = select(
    aggregate(spec, container => container.resources?.requests),
    name => name === 'cpu' || name === 'memory',
  );
  return withResources(spec, {requests: {...select(limits, isPodLevelResource), ...fromContainers, ...requests}});
}

function withResources(spec: api.PodSpec, lists: {limits?: ResourceList; requests?: ResourceList}): api.PodSpec {
  const filled = Object.fromEntries(Object.entries(lists).filter(([, list]) => !isEmpty(list)));
  return {...spec, resources: {...spec.resources, ...filled}};
}

/** What the containers need together of the lists that `listOf` picks. */
function aggregate(spec: api.PodSpec, listOf: (container: api.Container) => ResourceList | undefined): ResourceList {
  const requesting = (container: api.Container): api.Container => {
    const requests = listOf(container);
    return {...container, resources: requests === undefined ? {} : {requests}};
  };
  const total = containerRequests({
    metadata: {name: '', namespace: '', uid: ''},
    spec: {
      ...spec,
      containers: spec.containers.map(requesting),
      ...(spec.initContainers !== undefined && {initContainers: spec.initContainers.map(requesting)}),
    },
  });
  return Object.fromEntries([...total].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

function select(list: ResourceList, wanted: (name: string) => boolean): ResourceList {
  return Object.fromEntries(Object.entries(list).filter(([name]) => wanted(name)));
}

function isEmpty(list: object): boolean {
  return Object.keys(list).length === 0;
}
