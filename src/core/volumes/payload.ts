// The files that a ConfigMap, Secret, downward API or projected volume consists of.
// Mirrors kubelet v1.36 pkg/volume/{configmap,secret,downwardapi,projected} MakePayload and CollectData.
import type {
  ConfigMap,
  DownwardAPIVolumeFile,
  KeyToPath,
  ObjectFieldSelector,
  Pod,
  ProjectedVolumeSource,
  ResourceFieldSelector,
  Secret,
} from '../pod/types.js';
import {cleanPath, type PlannedVolume} from './planned-volumes.js';

interface FileProjection {
  readonly content: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
}

/** Files by path relative to the volume. */
export type Payload = ReadonlyMap<string, FileProjection>;

export type PayloadResult =
  {readonly ok: true; readonly payload: Payload} | {readonly ok: false; readonly errors: readonly string[]};

/** Where the content comes from. The downward API's answers are text, or why there is none. */
export interface PayloadSources {
  readonly configMap: (namespace: string, name: string) => ConfigMap | undefined;
  readonly secret: (namespace: string, name: string) => Secret | undefined;
  readonly field: (pod: Pod, selector: ObjectFieldSelector) => TextResult;
  readonly resource: (pod: Pod, selector: ResourceFieldSelector) => TextResult;
}

type TextResult = {readonly ok: true; readonly text: string} | {readonly ok: false; readonly error: string};

/** What the API sets where a manifest says nothing. */
const DEFAULT_MODE = 0o644;

/** The content of a volume of one of the four kinds; null for the other kinds. */
export function volumePayload(pod: Pod, planned: PlannedVolume, sources: PayloadSources): PayloadResult | null {
  const {configMap, secret, downwardAPI, projected} = planned.volume;
  switch (planned.kind) {
    case 'configMap':
      return configMapPayload(pod, {...configMap, mode: configMap?.defaultMode ?? DEFAULT_MODE}, sources);
    case 'secret':
      return secretPayload(
        pod,
        {...secret, name: secret?.secretName, mode: secret?.defaultMode ?? DEFAULT_MODE},
        sources,
      );
    case 'downwardAPI':
      return downwardPayload(pod, downwardAPI?.items ?? [], downwardAPI?.defaultMode ?? DEFAULT_MODE, sources);
    case 'projected':
      return projectedPayload(pod, projected ?? {}, sources);
    case 'emptyDir':
    case 'hostPath':
    case 'image':
      return null;
  }
}

/** A reference to keys of one object, whether of a volume or of a projection. */
interface KeysReference {
  readonly name?: string | undefined;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
  readonly mode: number;
}

function configMapPayload(pod: Pod, reference: KeysReference, sources: PayloadSources): PayloadResult {
  const {name = '', optional = false} = reference;
  const found = sources.configMap(pod.metadata.namespace, name);
  if (found === undefined && !optional) return failed(`configmap ${JSON.stringify(name)} not found`);
  const content = new Map([
    ...Object.entries(found?.data ?? {}).map(([key, text]) => [key, bytesOfText(text)] as const),
    ...Object.entries(found?.binaryData ?? {}).map(([key, base64]) => [key, bytesOfBase64(base64)] as const),
  ]);
  return chosenKeys(content, reference, key => `configmap references non-existent config key: ${key}`);
}

function secretPayload(pod: Pod, reference: KeysReference, sources: PayloadSources): PayloadResult {
  const {name = '', optional = false} = reference;
  const found = sources.secret(pod.metadata.namespace, name);
  if (found === undefined && !optional) return failed(`secret ${JSON.stringify(name)} not found`);
  const content = new Map([
    ...Object.entries(found?.data ?? {}).map(([key, base64]) => [key, bytesOfBase64(base64)] as const),
    ...Object.entries(found?.stringData ?? {}).map(([key, text]) => [key, bytesOfText(text)] as const),
  ]);
  return chosenKeys(content, reference, key => `references non-existent secret key: ${key}`);
}

/** All keys under their own names, or those that `items` picks under the names it gives. */
function chosenKeys(
  content: ReadonlyMap<string, Uint8Array>,
  {items = [], optional = false, mode}: KeysReference,
  missing: (key: string) => string,
): PayloadResult {
  if (items.length === 0) {
    return {ok: true, payload: new Map([...content].map(([key, bytes]) => [key, {content: bytes, mode}]))};
  }
  const payload = new Map<string, FileProjection>();
  for (const item of items) {
    const bytes = content.get(item.key);
    if (bytes !== undefined) payload.set(item.path, {content: bytes, mode: item.mode ?? mode});
    else if (!optional) return failed(missing(item.key));
  }
  return {ok: true, payload};
}

function downwardPayload(
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[],
  defaultMode: number,
  sources: PayloadSources,
): PayloadResult {
  const payload = new Map<string, FileProjection>();
  const errors: string[] = [];
  for (const {path, mode = defaultMode, fieldRef, resourceFieldRef} of items) {
    const value =
      fieldRef !== undefined
        ? sources.field(pod, fieldRef)
        : resourceFieldRef !== undefined
          ? sources.resource(pod, resourceFieldRef)
          : {ok: true as const, text: ''};
    if (value.ok) payload.set(cleanPath(path), {content: bytesOfText(value.text), mode});
    else errors.push(value.error);
  }
  return errors.length === 0 ? {ok: true, payload} : {ok: false, errors};
}

/** Later sources win where two give a file of the same path. */
function projectedPayload(pod: Pod, projected: ProjectedVolumeSource, sources: PayloadSources): PayloadResult {
  const mode = projected.defaultMode ?? DEFAULT_MODE;
  const results = (projected.sources ?? []).map((source): PayloadResult => {
    if (source.configMap !== undefined) return configMapPayload(pod, {...source.configMap, mode}, sources);
    if (source.secret !== undefined) return secretPayload(pod, {...source.secret, mode}, sources);
    if (source.downwardAPI !== undefined) return downwardPayload(pod, source.downwardAPI.items ?? [], mode, sources);
    const kind = Object.keys(source)[0];
    return kind === undefined
      ? {ok: true, payload: new Map()}
      : failed(UNSERVED[kind] ?? `projection of ${kind} is not supported`);
  });
  const errors = results.flatMap(result => (result.ok ? [] : result.errors));
  if (errors.length > 0) return {ok: false, errors};
  return {ok: true, payload: new Map(results.flatMap(result => (result.ok ? [...result.payload] : [])))};
}

/** Projections that only an API server can fill. */
const UNSERVED: Readonly<Record<string, string>> = {
  serviceAccountToken:
    'a service account token can only be had from an API server: remove the serviceAccountToken source',
  clusterTrustBundle: 'a cluster trust bundle can only be had from an API server: remove the clusterTrustBundle source',
  podCertificate: 'a pod certificate can only be had from an API server: remove the podCertificate source',
};

/** What is wrong with a path of a payload; null = nothing. Mirrors pkg/volume/util/atomic_writer.go validatePath. */
export function invalidPayloadPath(path: string): string | null {
  if (path === '') return `invalid path: must not be empty: ${JSON.stringify(path)}`;
  if (path.startsWith('/')) return `invalid path: must be relative path: ${path}`;
  if (byteLength(path) > LONGEST_PATH) return `invalid path: must be less than or equal to ${LONGEST_PATH} characters`;
  const parts = path.split('/');
  if (parts.includes('..')) return `invalid path: must not contain '..': ${path}`;
  if (parts[0]?.startsWith('..') === true) return `invalid path: must not start with '..': ${path}`;
  if (parts.some(part => byteLength(part) > LONGEST_NAME)) {
    return `invalid path: filenames must be less than or equal to ${LONGEST_NAME} characters`;
  }
  return null;
}

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

function failed(error: string): PayloadResult {
  return {ok: false, errors: [error]};
}

function byteLength(text: string): number {
  return bytesOfText(text).length;
}

function bytesOfText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function bytesOfBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0));
}
