// ConfigMap, Secret and RuntimeClass documents: read for the pods of the same files, held to the API's rules for them.
import type {FieldError} from '../core/errors.js';
import type {ApiReference} from '../core/pod/api-references.js';
import {configMapKey, dnsLabel, dnsSubdomain} from '../core/pod/validate/names.js';
import type * as api from '../core/pod/types.gen.js';
import type {Companions} from '../core/source-mux.js';

/** What the API lets an object of its store hold, all values together. */
const MAX_DATA_BYTES = 1024 * 1024;

/** The object with namespace and type filled in and stringData moved into data, as the API stores it. */
export function completeSecret(secret: api.Secret): api.Secret {
  const {stringData, ...rest} = secret;
  const fromText = Object.entries(stringData ?? {}).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return {
    ...rest,
    metadata: withNamespace(secret.metadata),
    type: secret.type ?? 'Opaque',
    data: {...secret.data, ...(Object.fromEntries(fromText) as Record<string, string>)},
  };
}

/** The object with its namespace filled in. */
export function completeConfigMap(configMap: api.ConfigMap): api.ConfigMap {
  return {...configMap, metadata: withNamespace(configMap.metadata)};
}

function withNamespace(metadata: api.ObjectMeta = {}): api.ObjectMeta {
  return {...metadata, namespace: metadata.namespace ?? 'default'};
}

/** Errors of a ConfigMap: its name, its keys, its size, keys in both data and binaryData. */
export function validateConfigMap({metadata, data = {}, binaryData = {}}: api.ConfigMap): readonly FieldError[] {
  const twice = Object.keys(data).filter(key => Object.hasOwn(binaryData, key));
  return [
    ...validateMetadata(metadata),
    ...validateKeys('data', Object.keys(data)),
    ...validateKeys('binaryData', Object.keys(binaryData)),
    ...twice.map(key => invalid(`data[${key}]`, key, `duplicate of key present in binaryData`)),
    ...validateSize([
      ...Object.values(data).map(text => Buffer.byteLength(text)),
      ...Object.values(binaryData).map(base64Length),
    ]),
  ];
}

/** Errors of a Secret after completeSecret. */
export function validateSecret({metadata, data = {}, type = ''}: api.Secret): readonly FieldError[] {
  return [
    ...validateMetadata(metadata),
    ...validateKeys('data', Object.keys(data)),
    ...validateSize(Object.values(data).map(base64Length)),
    ...validateSecretType(type, data),
  ];
}

/** Keys that a Secret of a well-known type must have. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function validateSecretType(type: string, data: Readonly<Record<string, string>>): readonly FieldError[] {
  const missing = (REQUIRED_KEYS[type] ?? []).filter(key => !Object.hasOwn(data, key));
  if (missing.length > 0) {
    return missing.map(key => ({
      type: 'FieldValueRequired',
      path: `data[${key}]`,
      detail: `a Secret of type ${type} needs it`,
    }));
  }
  const isDocker = type === 'kubernetes.io/dockerconfigjson' || type === 'kubernetes.io/dockercfg';
  const [key = ''] = REQUIRED_KEYS[type] ?? [];
  if (!isDocker || isJson(Buffer.from(data[key] ?? '', 'base64').toString())) return [];
  return [{type: 'FieldValueInvalid', path: `data[${key}]`, detail: 'is not JSON'}];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Errors of a RuntimeClass: its name and its handler's. */
export function validateRuntimeClass({metadata, handler}: api.RuntimeClass): readonly FieldError[] {
  return [
    ...validateName(metadata),
    ...(handler === ''
      ? [{type: 'FieldValueRequired', path: 'handler', detail: ''} as const]
      : dnsLabel(handler).map(complaint => invalid('handler', handler, complaint))),
  ];
}

function validateMetadata(metadata: api.ObjectMeta = {}): readonly FieldError[] {
  const {namespace = ''} = metadata;
  return [
    ...validateName(metadata),
    ...dnsLabel(namespace).map(complaint => invalid('metadata.namespace', namespace, complaint)),
  ];
}

function validateName({name = ''}: api.ObjectMeta = {}): readonly FieldError[] {
  if (name === '') return [{type: 'FieldValueRequired', path: 'metadata.name', detail: ''}];
  return dnsSubdomain(name).map(complaint => invalid('metadata.name', name, complaint));
}

function validateKeys(path: string, keys: readonly string[]): readonly FieldError[] {
  return keys.flatMap(key => configMapKey(key).map(complaint => invalid(`${path}[${key}]`, key, complaint)));
}

function validateSize(sizes: readonly number[]): readonly FieldError[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= MAX_DATA_BYTES) return [];
  return [{type: 'FieldValueTooLong', path: '', detail: `may not be more than ${MAX_DATA_BYTES} bytes`}];
}

function base64Length(text: string): number {
  return (text.length / 4) * 3;
}

function invalid(path: string, value: unknown, detail: string): FieldError {
  return {type: 'FieldValueInvalid', path, detail, value};
}

/** References of a pod of `namespace` that cannot be resolved among the companions and that it cannot do without. */
export function missingReferences(
  references: readonly ApiReference[],
  namespace: string,
  companions: Companions,
): readonly FieldError[] {
  return references.flatMap(reference => missing(reference, namespace, companions));
}

function missing(reference: ApiReference, namespace: string, companions: Companions): readonly FieldError[] {
  const {resource, path, name = '', optional = false, keys = []} = reference;
  if (optional || (resource !== 'secrets' && resource !== 'configmaps')) return [];
  const kind = resource === 'secrets' ? 'Secret' : 'ConfigMap';
  const objects = resource === 'secrets' ? companions.secrets : companions.configMaps;
  const found = objects.find(object => object.metadata?.name === name && object.metadata.namespace === namespace);
  if (found === undefined) {
    return [
      {type: 'FieldValueNotFound', path, value: name, detail: `no ${kind} ${namespace}/${name} in the manifests`},
    ];
  }
  const known = {...found.data, ...('binaryData' in found ? found.binaryData : {})};
  return keys
    .filter(key => !Object.hasOwn(known, key))
    .map(key => ({
      type: 'FieldValueNotFound',
      path,
      value: key,
      detail: `${kind} ${namespace}/${name} has no such key`,
    }));
}
