// The environment of a container, with all references resolved.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go makeEnvironmentVariables. There are no services here.
import {bytesToByteString, byteStringToBytes, fromByteString, toByteString} from '../byte-string.js';
import type {AnyContainer, EnvEntry} from '../cri-config/types.js';
import {PodError} from '../errors.js';
import {envFieldText, envResourceText, type Addresses, type SelectedText} from './downward-api.js';
import {podIPsOf} from '../status/pod-ips.js';
import {EnvFileError, envFileValue} from './env-file.js';
import {expandByteString} from './expansion.js';
import type {ConfigMap, EnvFromSource, EnvVar, EnvVarSource, FileKeySelector, Pod, Quantity, Secret} from './types.js';

export interface EnvInput extends Addresses {
  readonly pod: Pod;
  readonly container: AnyContainer;
  /** What this node can give, by resource name: stands in for limits that are missing. */
  readonly nodeAllocatable: Readonly<Record<string, Quantity>>;
  /** Objects of the pod's namespace; undefined = not there. */
  readonly configMap: (name: string) => ConfigMap | undefined;
  readonly secret: (name: string) => Secret | undefined;
  /** Text of a file of one of the pod's volumes; null = it cannot be read, undefined = there is no such volume. */
  readonly volumeFile: (volumeName: string, path: string) => string | null | undefined;
}

/**
 * Variables in the order of their first definition. envFrom comes first and env wins; a reference $(NAME) sees what was
 * defined before it. Throws PodError CreateContainerConfigError when a reference that is not optional leads nowhere.
 */
export function containerEnv(input: EnvInput): EnvEntry[] {
  const {pod, container} = input;
  if (pod.spec.enableServiceLinks === undefined) {
    throw failure('nil pod.spec.enableServiceLinks encountered, cannot construct envvars');
  }
  const values = new Map<string, string>();
  for (const source of container.envFrom ?? []) {
    for (const [key, value] of bulkValues(input, source)) values.set(`${source.prefix ?? ''}${key}`, value);
  }
  for (const variable of container.env ?? []) {
    const value = valueOf(input, variable, values);
    if (value !== undefined) values.set(variable.name, value);
  }
  return [...values].map(([name, value]) => ({name, value: textOrBytes(value)}));
}

/** A value as text; what is no UTF-8 in it becomes U+FFFD. */
export function envText(value: string | Uint8Array): string {
  return typeof value === 'string' ? value : fromByteString(bytesToByteString(value));
}

/** Values here are byte strings: secrets need not be text. */
type ByteString = string;

/** All of an object's keys; nothing for one that is optional and missing. */
function bulkValues({configMap, secret}: EnvInput, source: EnvFromSource): [string, ByteString][] {
  if (source.configMapRef !== undefined) {
    const {name = '', optional = false} = source.configMapRef;
    const found = configMap(name);
    if (found === undefined && !optional) throw failure(`configmaps "${name}" not found`);
    return Object.entries(found?.data ?? {}).map(([key, text]) => [key, toByteString(text)]);
  }
  if (source.secretRef === undefined) return [];
  const {name = '', optional = false} = source.secretRef;
  const found = secret(name);
  if (found === undefined && !optional) throw failure(`secrets "${name}" not found`);
  return Object.entries(found?.data ?? {}).map(([key, base64]) => [key, atob(base64)]);
}

/** undefined = the variable stays as it is. Text of a source is taken as it is, only literal values are expanded. */
function valueOf(
  input: EnvInput,
  {value = '', valueFrom}: EnvVar,
  defined: ReadonlyMap<string, ByteString>,
): ByteString | undefined {
  if (value !== '') return expandByteString(toByteString(value), name => defined.get(name));
  return valueFrom === undefined ? '' : sourceValue(input, valueFrom);
}

function sourceValue(input: EnvInput, source: EnvVarSource): ByteString | undefined {
  const {pod, container} = input;
  const {fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef} = source;
  if (fieldRef !== undefined) {
    return selected(envFieldText(pod, fieldRef, {podIPs: podIPsOf(input.podIPs), hostIPs: input.hostIPs}));
  }
  if (resourceFieldRef !== undefined) {
    return selected(envResourceText(pod, container, resourceFieldRef, input.nodeAllocatable));
  }
  const {namespace} = pod.metadata;
  if (configMapKeyRef !== undefined) {
    const {name = '', key, optional = false} = configMapKeyRef;
    const object = input.configMap(name);
    const value = own(object?.data, key);
    if (value !== undefined) return toByteString(value);
    if (optional) return undefined;
    throw failure(
      object === undefined
        ? `configmaps "${name}" not found`
        : `couldn't find key ${key} in ConfigMap ${namespace}/${name}`,
    );
  }
  if (secretKeyRef !== undefined) {
    const {name = '', key, optional = false} = secretKeyRef;
    const object = input.secret(name);
    const value = own(object?.data, key);
    if (value !== undefined) return atob(value);
    if (optional) return undefined;
    throw failure(
      object === undefined ? `secrets "${name}" not found` : `couldn't find key ${key} in Secret ${namespace}/${name}`,
    );
  }
  return fileKeyRef === undefined ? '' : fileValue(input, fileKeyRef);
}

const MAX_FILE_KEY_LENGTH = 128;
const MAX_FILE_VALUE_BYTES = 32 * 1024;

function fileValue(
  {volumeFile}: EnvInput,
  {volumeName, path, key, optional = false}: FileKeySelector,
): ByteString | undefined {
  const content = volumeFile(volumeName, path);
  if (content === undefined) throw failure(`cannot find the volume "${volumeName}" referenced by FileKeyRef`);
  if (key.length > MAX_FILE_KEY_LENGTH) {
    throw failure(`environment variable key "${key}" exceeds maximum length of ${MAX_FILE_KEY_LENGTH} characters`);
  }
  // A file that is not there is an error even for an optional key.
  if (content === null) throw failure("couldn't parse env file");
  const value = toByteString(parsedFileValue(content, key));
  if (value.length > MAX_FILE_VALUE_BYTES) {
    throw failure(`environment variable value for key "${key}" exceeds maximum size of 32KB`);
  }
  if (value !== '') return value;
  if (optional) return undefined;
  throw failure(`environment variable key "${key}" not found in file "${path}"`);
}

function parsedFileValue(content: string, key: string): string {
  try {
    return envFileValue(content, key);
  } catch (error) {
    if (error instanceof EnvFileError) throw failure(`couldn't parse env file: ${error.message}`);
    throw error;
  }
}

function selected(text: SelectedText): ByteString {
  if (text.ok) return toByteString(text.text);
  throw failure(text.error);
}

function own(map: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

function textOrBytes(value: ByteString): string | Uint8Array {
  const text = fromByteString(value);
  return toByteString(text) === value ? text : byteStringToBytes(value);
}

function failure(message: string): PodError {
  return new PodError('CreateContainerConfigError', message);
}
