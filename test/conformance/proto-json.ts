// CRI messages as proto3 JSON: 64-bit numbers as text, enums by name, bytes as base64, fields at their default left out.
import {
  MountPropagation,
  NamespaceMode,
  Protocol,
  SecurityProfile_ProfileType,
  Signal,
  SupplementalGroupsPolicy,
} from '../../src/cri/gen/cri.js';

const ENUMS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  network: NamespaceMode,
  pid: NamespaceMode,
  ipc: NamespaceMode,
  mode: NamespaceMode,
  profileType: SecurityProfile_ProfileType,
  protocol: Protocol,
  propagation: MountPropagation,
  supplementalGroupsPolicy: SupplementalGroupsPolicy,
  stopSignal: Signal,
};

/** Objects that are maps of the protocol: an empty one is left out, while an empty message is not. */
const MAPS: ReadonlySet<string> = new Set(['labels', 'annotations', 'sysctls', 'unified']);

/** The JSON of a message; `field` is the name it stands under. */
export function protoJson(value: unknown, field = ''): unknown {
  if (value === undefined || value === '' || value === 0 || value === 0n || value === false) return undefined;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') {
    const names = Object.entries(ENUMS[field] ?? {});
    return names.find(([, number]) => number === value)?.[0] ?? value;
  }
  if (value instanceof Uint8Array) return value.length === 0 ? undefined : Buffer.from(value).toString('base64');
  // In a list a value stands even at its default.
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item: unknown) => protoJson(item, field) ?? item);
  if (typeof value !== 'object' || value === null) return value;
  const isMap = MAPS.has(field);
  if (isMap) return Object.keys(value).length === 0 ? undefined : value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, protoJson(inner, key)]));
}
