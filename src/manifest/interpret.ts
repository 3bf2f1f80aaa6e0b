// One object of a manifest: what kind it is, and what it gives. All that is wrong with it is collected, none of it thrown.
import type {FieldError} from '../core/errors.js';
import {apiReferences, type ApiReference} from '../core/pod/api-references.js';
import {decodeObject, type Definitions} from '../core/pod/decode.js';
import {nearestName} from '../core/pod/decode-unknown.js';
import {
  describeValue,
  isManifestList,
  isManifestMap,
  stringAt,
  type ManifestMap,
  type ManifestValue,
} from '../core/pod/decode-value.js';
import {makeStaticPod, NAME_IS_NEEDED} from '../core/pod/static-pod.js';
import type * as api from '../core/pod/types.gen.js';
import type {ConfigMap, Pod, RuntimeClass, Secret} from '../core/pod/types.js';
import {validatePod} from '../core/pod/validate.js';
import {
  completeConfigMap,
  completeSecret,
  validateConfigMap,
  validateRuntimeClass,
  validateSecret,
} from './companions.js';
import {convertContainerManifest, isContainerManifest} from './legacy.js';
import {joinPath, type InterpretOptions, type ObjectPlace, type RawProblem} from './types.js';
import {expandDaemonSet, expandJob, expandReplicas, expandStatefulSet, type ExpandedWorkload} from './workloads.js';

export interface FoundPod {
  readonly pod: Pod;
  readonly place: ObjectPlace;
  /** What it needs of the same manifests, with paths inside the object. */
  readonly references: readonly ApiReference[];
  /** Where in the object its spec.overhead is. */
  readonly overheadPath: string;
}

export interface FoundObject<T> {
  readonly object: T;
  readonly place: ObjectPlace;
}

/** What has been found so far; interpretObject adds to it. */
export interface Findings {
  readonly pods: FoundPod[];
  readonly configMaps: FoundObject<ConfigMap>[];
  readonly secrets: FoundObject<Secret>[];
  readonly runtimeClasses: FoundObject<RuntimeClass>[];
  readonly skipped: {
    readonly kind: string;
    readonly apiVersion: string;
    readonly name: string;
    readonly place: ObjectPlace;
  }[];
  readonly problems: RawProblem[];
}

/** Adds what an object gives, and what is wrong with it, to the findings. Lists are taken apart. */
export function interpretObject(
  value: ManifestValue,
  place: ObjectPlace,
  options: InterpretOptions,
  findings: Findings,
): void {
  const reading: Reading = {place, options, findings, pathOf: path => path};
  if (!isManifestMap(value)) {
    const detail = `expected an object with apiVersion and kind, found ${describeValue(value)}`;
    complain(reading, [{type: 'FieldValueTypeInvalid', path: '', detail}]);
  } else if (isContainerManifest(value)) {
    interpretLegacy(value, reading);
  } else if (hasKind(value, reading)) {
    interpretKind(value, reading);
  }
}

interface Reading {
  readonly place: ObjectPlace;
  readonly options: InterpretOptions;
  readonly findings: Findings;
  /** From a field path of what was decoded to one of what was written. */
  readonly pathOf: (path: string) => string;
}

function hasKind(value: ManifestMap, reading: Reading): boolean {
  const problems = ['apiVersion', 'kind'].flatMap((field): readonly FieldError[] => {
    const given = value.get(field) ?? null;
    if (given === null || given === '') return [{type: 'FieldValueRequired', path: field, detail: ''}];
    if (typeof given === 'string') return [];
    return [{type: 'FieldValueTypeInvalid', path: field, detail: `expected a string, found ${describeValue(given)}`}];
  });
  complain(reading, problems);
  return problems.length === 0;
}

type Interpreter = (value: ManifestMap, reading: Reading) => void;

/** Kinds that are read, with the one version that is. */
const KINDS: Readonly<Record<string, readonly [apiVersion: string, interpret: Interpreter]>> = {
  Pod: ['v1', interpretPod],
  List: ['v1', interpretList],
  ConfigMap: ['v1', interpretConfigMap],
  Secret: ['v1', interpretSecret],
  RuntimeClass: ['node.k8s.io/v1', interpretRuntimeClass],
  Deployment: ['apps/v1', workloadInterpreter('Deployment', expandReplicas)],
  ReplicaSet: ['apps/v1', workloadInterpreter('ReplicaSet', expandReplicas)],
  StatefulSet: ['apps/v1', workloadInterpreter('StatefulSet', expandStatefulSet)],
  DaemonSet: ['apps/v1', workloadInterpreter('DaemonSet', expandDaemonSet)],
  Job: ['batch/v1', workloadInterpreter('Job', expandJob)],
};

function interpretKind(value: ManifestMap, reading: Reading): void {
  const kind = stringAt(value, 'kind') ?? '';
  const apiVersion = stringAt(value, 'apiVersion') ?? '';
  const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (known?.[0] === apiVersion) {
    known[1](value, reading);
  } else if (kind.endsWith('List') && isManifestList(value.get('items'))) {
    interpretList(value, reading);
  } else if (known !== undefined && isOldVersion(apiVersion, known[0])) {
    const detail = `supported values: ${JSON.stringify(known[0])}`;
    complain(reading, [{type: 'FieldValueNotSupported', path: 'apiVersion', value: apiVersion, detail}]);
  } else if (known === undefined && nearestName(kind, Object.keys(KINDS)) !== undefined) {
    const detail = `did you mean ${JSON.stringify(nearestName(kind, Object.keys(KINDS)))}?`;
    complain(reading, [{type: 'FieldValueNotSupported', path: 'kind', value: kind, detail}]);
  } else {
    const name = stringAt(value.get('metadata'), 'name') ?? '';
    reading.findings.skipped.push({kind, apiVersion, name, place: reading.place});
  }
}

/** The same kind of Kubernetes' own under another version; a kind of that name of somebody else is none of ours. */
function isOldVersion(apiVersion: string, supported: string): boolean {
  const group = (version: string): string => (version.includes('/') ? (version.split('/')[0] ?? '') : '');
  return [group(supported), 'extensions', ''].includes(group(apiVersion));
}

/** Items of a typed list need not say what they are. */
function interpretList(value: ManifestMap, reading: Reading): void {
  const {place, options, findings} = reading;
  const items = value.get('items') ?? [];
  if (!isManifestList(items)) {
    complain(reading, [
      {type: 'FieldValueTypeInvalid', path: 'items', detail: `expected a list, found ${describeValue(items)}`},
    ]);
    return;
  }
  const kind = (stringAt(value, 'kind') ?? '').replace(/List$/, '');
  items.forEach((item, index) => {
    const itemPlace = {...place, path: joinPath(place.path, `items[${index}]`)};
    interpretObject(
      kind === '' ? item : withKind(item, kind, value.get('apiVersion') ?? null),
      itemPlace,
      options,
      findings,
    );
  });
}

function withKind(item: ManifestValue, kind: string, apiVersion: ManifestValue): ManifestValue {
  if (!isManifestMap(item)) return item;
  return new Map<string, ManifestValue>([['apiVersion', apiVersion], ['kind', kind], ...item]);
}

function interpretLegacy(value: ManifestMap, reading: Reading): void {
  const converted = convertContainerManifest(value);
  complain(reading, converted.errors);
  reportUnknown(reading, converted.unknown);
  // Without a usable id there is no pod to speak of.
  if (converted.errors.length === 0) interpretPod(converted.value, {...reading, pathOf: converted.pathInLegacy});
}

function interpretPod(value: ManifestMap, reading: Reading): void {
  const decoded = decodeNamespaced('Pod', value, reading);
  addPod(decoded.value, decoded.errors, reading);
}

/** Takes a decoded pod; `wrong` are fields that could not be decoded, of which nothing more needs to be said. */
function addPod(manifest: api.Pod, wrong: readonly FieldError[], reading: Reading): void {
  const {place, options, findings} = reading;
  if ((manifest.metadata?.name ?? '') === '') {
    if (wrong.some(({path}) => isInside('metadata.name', path))) return;
    const generated = manifest.metadata?.generateName === undefined ? '' : '; generateName does not count';
    complain(reading, [{type: 'FieldValueRequired', path: 'metadata.name', detail: NAME_IS_NEEDED + generated}]);
    return;
  }
  const pod = makeStaticPod(manifest, {nodeName: options.nodeName, source: place.file, isFile: place.isFile});
  const invalid = validatePod(pod).filter(({path}) => !wrong.some(error => isInside(path, error.path)));
  complain(reading, invalid);
  const references = apiReferences(pod.spec).map(reference => ({...reference, path: reading.pathOf(reference.path)}));
  for (const reference of references) reportReference(reference, reading);
  findings.pods.push({pod, place, references, overheadPath: reading.pathOf('spec.overhead')});
}

/** Whether one of two field paths is inside the other. */
function isInside(a: string, b: string): boolean {
  const [inner, outer] = a.length >= b.length ? [a, b] : [b, a];
  return inner === outer || outer === '' || (inner.startsWith(outer) && /^[.[]/.test(inner.slice(outer.length)));
}

/** ConfigMaps and Secrets come from manifests; a service account changes nothing here; all else needs an API server. */
function reportReference(reference: ApiReference, {findings, place}: Reading): void {
  const {resource, path, name} = reference;
  if (resource === 'configmaps' || resource === 'secrets') return;
  if (resource === 'serviceaccounts') {
    const detail = 'accepted, but it has no effect: no token is mounted without an API server';
    findings.problems.push({type: 'FieldValueNotSupported', path, detail, value: name, place, severity: 'warning'});
    return;
  }
  const detail = `static pods may not reference ${resource}: there is no API server`;
  findings.problems.push({type: 'FieldValueForbidden', path, detail, place, severity: 'error'});
}

function interpretConfigMap(value: ManifestMap, reading: Reading): void {
  const decoded = decodeNamespaced('ConfigMap', value, reading);
  if (decoded.errors.length > 0) return;
  const object = completeConfigMap(decoded.value);
  const invalid = validateConfigMap(object);
  complain(reading, invalid);
  if (invalid.length === 0) reading.findings.configMaps.push({object, place: reading.place});
}

function interpretSecret(value: ManifestMap, reading: Reading): void {
  const decoded = decodeNamespaced('Secret', value, reading);
  if (decoded.errors.length > 0) return;
  const object = completeSecret(decoded.value);
  const invalid = validateSecret(object);
  complain(reading, invalid);
  if (invalid.length === 0) reading.findings.secrets.push({object, place: reading.place});
}

function interpretRuntimeClass(value: ManifestMap, reading: Reading): void {
  const decoded = decode('RuntimeClass', value, reading);
  if (decoded.errors.length > 0) return;
  const invalid = validateRuntimeClass(decoded.value);
  complain(reading, invalid);
  if (invalid.length === 0) reading.findings.runtimeClasses.push({object: decoded.value, place: reading.place});
}

type WorkloadKind = 'Deployment' | 'ReplicaSet' | 'StatefulSet' | 'DaemonSet' | 'Job';

function workloadInterpreter<K extends WorkloadKind>(
  kind: K,
  expand: (workload: Definitions[K]) => ExpandedWorkload,
): Interpreter {
  return (value, reading) => {
    const {value: workload, errors: wrong} = decodeNamespaced(kind, value, reading);
    if ((workload.metadata?.name ?? '') === '') {
      complain(reading, [{type: 'FieldValueRequired', path: 'metadata.name', detail: ''}]);
      return;
    }
    const {pods, errors, notes} = expand(workload);
    complain(
      reading,
      errors.filter(({path}) => !wrong.some(error => isInside(path, error.path))),
    );
    reading.findings.problems.push(
      ...notes.map(note => ({...note, place: reading.place, severity: 'warning' as const})),
    );
    if (wrong.length > 0) return;
    const before = reading.findings.problems.length;
    for (const {manifest, pathInWorkload} of pods) {
      addPod(manifest, [], {...reading, pathOf: pathInWorkload});
      // The template is wrong in all of them alike.
      if (reading.findings.problems.slice(before).some(({severity}) => severity === 'error')) return;
    }
  };
}

/** With the namespace that is asked for filled in. Mirrors kubectl's --namespace with files. */
function decodeNamespaced<K extends WorkloadKind | 'Pod' | 'ConfigMap' | 'Secret'>(
  kind: K,
  value: ManifestMap,
  reading: Reading,
): ReturnType<typeof decodeObject<K>> {
  const decoded = decode(kind, value, reading);
  const {namespace} = reading.options;
  if (namespace === undefined) return decoded;
  const {metadata} = decoded.value;
  const named = metadata?.namespace ?? '';
  if (named !== '' && named !== namespace) {
    const detail = `is not the namespace ${JSON.stringify(namespace)} that -n asks for`;
    complain(reading, [{type: 'FieldValueInvalid', path: 'metadata.namespace', value: named, detail}]);
    return decoded;
  }
  return {...decoded, value: {...decoded.value, metadata: {...metadata, namespace}}};
}

function decode<K extends keyof Definitions>(
  kind: K,
  value: ManifestMap,
  reading: Reading,
): ReturnType<typeof decodeObject<K>> {
  const decoded = decodeObject(kind, value);
  complain(reading, decoded.errors);
  reportUnknown(reading, decoded.unknown);
  return decoded;
}

function complain({findings, place, pathOf}: Reading, errors: readonly FieldError[]): void {
  for (const error of errors) findings.problems.push({...error, path: pathOf(error.path), place, severity: 'error'});
}

function reportUnknown({findings, place, pathOf, options}: Reading, unknown: readonly FieldError[]): void {
  if (options.validate === 'ignore') return;
  const severity = options.validate === 'strict' ? 'error' : 'warning';
  for (const error of unknown) findings.problems.push({...error, path: pathOf(error.path), place, severity});
}
