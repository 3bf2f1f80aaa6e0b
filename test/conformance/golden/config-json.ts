// Configs of requests in the form of the recorded traces.
import type {ContainerConfig, PodSandboxConfig} from '../../../src/cri/gen/cri.js';
import {protoJson} from '../proto-json.js';
import {isOurKey} from './differences.js';
import {isObject, textAt} from './json.js';
import type {Json, JsonObject} from './types.js';

/** Maps of the protocol: their keys are not field names. */
const MAPS: ReadonlySet<string> = new Set(['labels', 'annotations', 'sysctls', 'unified']);

/** Fields whose name in the proto is not snake_case. */
const NAMED_OTHERWISE: Readonly<Record<string, string>> = {
  CDIDevices: 'CDI_devices',
  uidMappings: 'uidMappings',
  gidMappings: 'gidMappings',
};

/** snake_case, defaults left out, 64-bit numbers as text; envs as [name, value] by name, mounts by container path. */
export function configJson(config: PodSandboxConfig | ContainerConfig): JsonObject {
  const json = snakeCase(protoJson(config) as Json, '');
  return isObject(json) ? sorted(json) : {};
}

/** undefined = nothing, or an empty map. */
function snakeCase(value: Json | undefined, field: string): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[]).map(item => snakeCase(item, field) ?? null);
  if (!isObject(value)) return value;
  if (MAPS.has(field)) {
    const entries = Object.entries(value).filter(([key]) => !isOurKey(key));
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
  const entries = Object.entries(value).map(([key, inner]) => [snakeName(key), snakeCase(inner, key)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
}

function snakeName(name: string): string {
  return NAMED_OTHERWISE[name] ?? name.replace(/(?<=[a-z0-9])[A-Z]/g, letter => `_${letter}`).toLowerCase();
}

function sorted(config: JsonObject): JsonObject {
  const {envs, mounts} = config;
  return {
    ...config,
    ...(Array.isArray(envs) && {envs: byText((envs as readonly JsonObject[]).map(envPair), ([name]) => name)}),
    ...(Array.isArray(mounts) && {
      mounts: byText(mounts as readonly JsonObject[], mount => textAt(mount, 'container_path')),
    }),
  };
}

/** Values are bytes on the wire. */
function envPair(env: JsonObject): readonly [string, string] {
  return [textAt(env, 'key'), Buffer.from(textAt(env, 'value'), 'base64').toString('utf8')];
}

function byText<Item>(items: readonly Item[], text: (item: Item) => string): readonly Item[] {
  return items.toSorted((left, right) => (text(left) < text(right) ? -1 : Number(text(left) > text(right))));
}
