// Deployment, StatefulSet, DaemonSet, ReplicaSet and Job as the pods they stand for on one node. Nobody looks after them
// as a controller would; names follow from the workload's name alone, so that a second reading gives the same pods.
import type {FieldError} from '../core/errors.js';
import type * as api from '../core/pod/types.gen.js';

interface ExpandedPod {
  readonly manifest: api.Pod;
  /** Where a field of the pod is in the workload. */
  readonly pathInWorkload: (path: string) => string;
}

export interface ExpandedWorkload {
  readonly pods: readonly ExpandedPod[];
  readonly errors: readonly FieldError[];
  /** What of the workload has no effect here, one line each. */
  readonly notes: readonly FieldError[];
}

/** More than a node runs is a slip of the pen. */
const MAX_REPLICAS = 1000;

/** `web` with two replicas becomes the pods `web-0` and `web-1`. */
export function expandReplicas(workload: api.Deployment | api.ReplicaSet): ExpandedWorkload {
  const {replicas = 1, selector, template} = workload.spec ?? {};
  const errors = [
    ...templateErrors(template, ['Always']),
    ...selectorErrors(selector, template),
    ...countErrors('spec.replicas', replicas),
  ];
  const pods = ordinals(replicas, errors).map(ordinal => podOf(workload, template, {name: nameOf(workload, ordinal)}));
  return {pods, errors, notes: []};
}

/** As expandReplicas, with the hostname and the labels that a StatefulSet's pods can rely on. */
export function expandStatefulSet(workload: api.StatefulSet): ExpandedWorkload {
  const {
    replicas = 1,
    selector,
    template,
    serviceName,
    ordinals: numbering,
    volumeClaimTemplates = [],
  } = workload.spec ?? {};
  const errors = [
    ...templateErrors(template, ['Always']),
    ...selectorErrors(selector, template),
    ...countErrors('spec.replicas', replicas),
    ...(volumeClaimTemplates.length === 0
      ? []
      : [forbidden('spec.volumeClaimTemplates', 'persistent volume claims need an API server')]),
  ];
  const start = numbering?.start ?? 0;
  const pods = ordinals(replicas, errors).map(index => {
    const name = nameOf(workload, start + index);
    return podOf(workload, template, {
      name,
      labels: {'statefulset.kubernetes.io/pod-name': name, 'apps.kubernetes.io/pod-index': String(start + index)},
      spec: {hostname: name, ...(serviceName !== undefined && serviceName !== '' && {subdomain: serviceName})},
    });
  });
  return {pods, errors, notes: []};
}

/** The one pod that this node has of it, under the set's own name. */
export function expandDaemonSet(workload: api.DaemonSet): ExpandedWorkload {
  const {selector, template} = workload.spec ?? {};
  const errors = [...templateErrors(template, ['Always']), ...selectorErrors(selector, template)];
  const pods = errors.length > 0 ? [] : [podOf(workload, template, {name: workload.metadata?.name ?? ''})];
  return {pods, errors, notes: []};
}

/**
 * One pod for each completion, all at once: `import-0`, `import-1`, ... Without completions, as many as run in parallel.
 * Indexed jobs get their index as Kubernetes gives it. A failed pod is restarted by its own policy only.
 */
export function expandJob(workload: api.Job): ExpandedWorkload {
  const {
    template,
    completions,
    parallelism = 1,
    suspend = false,
    completionMode,
    activeDeadlineSeconds,
  } = workload.spec ?? {};
  const count = suspend ? 0 : (completions ?? parallelism);
  const errors = [
    ...templateErrors(template, ['OnFailure', 'Never']),
    ...countErrors(completions === undefined ? 'spec.parallelism' : 'spec.completions', count),
  ];
  const jobName = workload.metadata?.name ?? '';
  const pods = ordinals(count, errors).map(index => {
    const name = nameOf(workload, index);
    const deadline = template?.spec?.activeDeadlineSeconds ?? activeDeadlineSeconds;
    const pod = podOf(workload, template, {
      name,
      labels: {'batch.kubernetes.io/job-name': jobName, 'job-name': jobName},
      spec: {...(deadline !== undefined && {activeDeadlineSeconds: deadline})},
    });
    return completionMode === 'Indexed' ? withCompletionIndex(pod, index) : pod;
  });
  const notes =
    completions !== undefined && parallelism < completions && !suspend
      ? [forbidden('spec.parallelism', `has no effect: all ${completions} pods run at once`)]
      : [];
  return {pods, errors, notes};
}

function withCompletionIndex({manifest, pathInWorkload}: ExpandedPod, index: number): ExpandedPod {
  const {metadata = {}, spec = {containers: []}} = manifest;
  const key = 'batch.kubernetes.io/job-completion-index';
  const variable = {name: 'JOB_COMPLETION_INDEX', valueFrom: {fieldRef: {fieldPath: `metadata.annotations['${key}']`}}};
  const withVariable = (container: api.Container): api.Container =>
    container.env?.some(({name}) => name === variable.name) === true
      ? container
      : {...container, env: [...(container.env ?? []), variable]};
  return {
    pathInWorkload,
    manifest: {
      ...manifest,
      metadata: {
        ...metadata,
        annotations: {...metadata.annotations, [key]: String(index)},
        labels: {...metadata.labels, [key]: String(index)},
      },
      spec: {
        ...spec,
        hostname: spec.hostname ?? metadata.name ?? '',
        containers: spec.containers.map(withVariable),
        ...(spec.initContainers !== undefined && {initContainers: spec.initContainers.map(withVariable)}),
      },
    },
  };
}

interface Workload {
  readonly metadata?: api.ObjectMeta;
}

interface PodDetails {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<api.PodSpec>;
}

function podOf(workload: Workload, template: api.PodTemplateSpec | undefined, details: PodDetails): ExpandedPod {
  const {namespace} = workload.metadata ?? {};
  const {annotations, labels} = template?.metadata ?? {};
  const spec = template?.spec ?? {containers: []};
  return {
    pathInWorkload: path => (isOfWorkload(path) ? path : `spec.template.${path}`),
    manifest: {
      metadata: {
        name: details.name,
        ...(namespace !== undefined && {namespace}),
        ...(annotations !== undefined && {annotations}),
        labels: {...labels, ...details.labels},
      },
      spec: {...spec, ...details.spec},
    },
  };
}

/** Name and namespace are the workload's, all else is the template's. */
function isOfWorkload(path: string): boolean {
  return path === 'metadata.name' || path === 'metadata.namespace';
}

function nameOf({metadata}: Workload, ordinal: number): string {
  return `${metadata?.name ?? ''}-${ordinal}`;
}

function ordinals(count: number, errors: readonly FieldError[]): readonly number[] {
  return errors.length > 0 ? [] : Array.from({length: count}, (_, ordinal) => ordinal);
}

function countErrors(path: string, count: number): readonly FieldError[] {
  if (count < 0) return [{type: 'FieldValueInvalid', path, value: count, detail: 'must be greater than or equal to 0'}];
  if (count <= MAX_REPLICAS) return [];
  return [{type: 'FieldValueInvalid', path, value: count, detail: `one node runs no more than ${MAX_REPLICAS}`}];
}

function templateErrors(template: api.PodTemplateSpec | undefined, policies: readonly string[]): readonly FieldError[] {
  if (template?.spec === undefined) return [{type: 'FieldValueRequired', path: 'spec.template.spec', detail: ''}];
  const policy = template.spec.restartPolicy ?? 'Always';
  if (policies.includes(policy)) return [];
  return [
    {
      type: 'FieldValueNotSupported',
      path: 'spec.template.spec.restartPolicy',
      value: policy,
      detail: `supported values: ${policies.map(one => JSON.stringify(one)).join(', ')}`,
    },
  ];
}

function selectorErrors(
  selector: api.LabelSelector | undefined,
  template: api.PodTemplateSpec | undefined,
): readonly FieldError[] {
  const labels = template?.metadata?.labels ?? {};
  const wrong = Object.entries(selector?.matchLabels ?? {}).filter(([key, value]) => labels[key] !== value);
  return wrong.map(([key, value]) => ({
    type: 'FieldValueInvalid',
    path: `spec.selector.matchLabels[${key}]`,
    value,
    detail: 'the template has no such label, so that the workload would not know its own pods',
  }));
}

function forbidden(path: string, detail: string): FieldError {
  return {type: 'FieldValueForbidden', path, detail};
}
