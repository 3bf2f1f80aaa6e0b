// Looking into JSON whose shape is only known by its words.
import type {Json, JsonObject} from './types.js';

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object under a key; an empty one where there is none. */
export function objectAt(value: Json | undefined, ...keys: readonly string[]): JsonObject {
  let found: Json | undefined = value;
  for (const key of keys) found = isObject(found) ? found[key] : undefined;
  return isObject(found) ? found : {};
}

/** The objects of the list under a key. */
export function objectsAt(value: Json | undefined, key: string): readonly JsonObject[] {
  const list = isObject(value) ? value[key] : undefined;
  return Array.isArray(list) ? (list as readonly Json[]).filter(isObject) : [];
}

/** The text under a key; '' where there is none. */
export function textAt(value: Json | undefined, key: string): string {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : '';
}

/** The number under a key; undefined where there is none. */
export function numberAt(value: Json | undefined, key: string): number | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === 'number' ? found : undefined;
}

export function without(value: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}
