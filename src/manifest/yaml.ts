// The kubelet's YAML dialect: js-yaml scans the text into events, and the values are built here by the rules of
// goyaml.v2 (sigs.k8s.io/yaml), which no schema of js-yaml has: its scalars, its merge keys, its limits on aliases.
import {COLLECTION_STYLE, EVENT_ID, getScalarValue, SCALAR_STYLE, type CollectionStyle, type Event} from 'js-yaml';
import type {ManifestValue} from '../core/pod/decode-value.js';
import {ManifestSyntaxError, pathText, type DuplicateKey, type ParsedText, type PathStep} from './syntax.js';
import {scanYaml, type ScannedYaml} from './yaml-scan.js';
import {keyText, resolvePlain, resolveTagged, type ResolvedScalar} from './yaml-scalars.js';

/**
 * Reads one document; an empty one is null. Later keys replace earlier ones, `<<` replaces what stands before it, as in
 * Go. Throws ManifestSyntaxError for text that Go refuses, cyclic and exploding aliases included.
 */
export function parseYaml(source: string): ParsedText {
  const scanned = scanYaml(source);
  try {
    return buildDocument(scanned);
  } catch (error) {
    if (!(error instanceof ManifestSyntaxError)) throw error;
    throw new ManifestSyntaxError(error.message, scanned.originalOffset(error.offset));
  }
}

function buildDocument({text, events, originalOffset}: ScannedYaml): ParsedText {
  const building: Building = {
    text,
    events,
    next: 1,
    anchors: new Map(),
    open: new Set(),
    path: [],
    duplicates: [],
    flowDepth: 0,
    visits: 0,
    aliasVisits: 0,
  };
  const isEmpty = events.length === 0 || events[1]?.type === EVENT_ID.POP;
  const value = isEmpty ? null : buildNode(building).value;
  return {value, duplicates: building.duplicates.map(({path, offset}) => ({path, offset: originalOffset(offset)}))};
}

interface Building {
  readonly text: string;
  readonly events: readonly Event[];
  next: number;
  /** The newest node of each anchor. */
  readonly anchors: Map<string, Node>;
  /** Anchors whose node is still being built: an alias to one would contain itself. */
  readonly open: Set<string>;
  readonly path: PathStep[];
  readonly duplicates: DuplicateKey[];
  /** Brackets and braces around the node that is being built. */
  flowDepth: number;
  /** Nodes Go would visit, with every alias written out, and how many of them inside aliases. */
  visits: number;
  aliasVisits: number;
}

interface Node {
  readonly value: ManifestValue;
  /** Visits it costs to write the node out. */
  readonly size: number;
  readonly offset: number;
  /** What a scalar was, before it became JSON: keys are written differently. */
  readonly scalar?: ResolvedScalar;
  readonly isMerge?: boolean;
}

function buildNode(building: Building): Node {
  const event = building.events[building.next++];
  const before = building.visits;
  countVisits(building, 1, 0);
  switch (event?.type) {
    case EVENT_ID.SCALAR:
      return anchored(building, event, () => buildScalar(building, event));
    case EVENT_ID.SEQUENCE:
      return anchored(building, event, () =>
        inside(building, event, () => buildSequence(building, event.start, before)),
      );
    case EVENT_ID.MAPPING:
      return anchored(building, event, () =>
        inside(building, event, () => buildMapping(building, event.start, before)),
      );
    case EVENT_ID.ALIAS:
      return followAlias(building, event);
    case EVENT_ID.DOCUMENT:
    case EVENT_ID.POP:
    case undefined:
      throw new ManifestSyntaxError('unexpected end of the document', building.text.length);
  }
}

/** Builds a collection, knowing inside whether it stands in brackets. */
function inside(building: Building, {style}: {readonly style: CollectionStyle}, build: () => Node): Node {
  const flow = style === COLLECTION_STYLE.FLOW ? 1 : 0;
  building.flowDepth += flow;
  const node = build();
  building.flowDepth -= flow;
  return node;
}

interface Anchored {
  readonly anchorStart: number;
  readonly anchorEnd: number;
}

function anchored(building: Building, event: Anchored, build: () => Node): Node {
  if (event.anchorStart < 0) return build();
  const name = building.text.slice(event.anchorStart, event.anchorEnd);
  building.open.add(name);
  const node = build();
  building.open.delete(name);
  building.anchors.set(name, node);
  return node;
}

function followAlias(building: Building, event: Anchored): Node {
  const name = building.text.slice(event.anchorStart, event.anchorEnd);
  const offset = Math.max(event.anchorStart - 1, 0);
  if (building.open.has(name)) throw new ManifestSyntaxError(`anchor '${name}' value contains itself`, offset);
  const target = building.anchors.get(name);
  if (target === undefined) throw new ManifestSyntaxError(`unknown anchor '${name}' referenced`, offset);
  countVisits(building, target.size, target.size, offset);
  return {...target, size: target.size + 1, offset, isMerge: false};
}

/** Go's guard against documents that are mostly aliases: 99 % up to 400,000 visits, falling to 10 % at 4,000,000. */
function countVisits(building: Building, visits: number, inAliases: number, offset = 0): void {
  building.visits += visits;
  building.aliasVisits += inAliases;
  if (building.aliasVisits <= 100 || building.visits <= 1000) return;
  const beyond = Math.min(Math.max((building.visits - 400_000) / 3_600_000, 0), 1);
  if (building.aliasVisits / building.visits > 0.99 - 0.89 * beyond) {
    throw new ManifestSyntaxError('document contains excessive aliasing', offset);
  }
}

type ScalarEvent = Extract<Event, {type: typeof EVENT_ID.SCALAR}>;

function buildScalar(building: Building, event: ScalarEvent): Node {
  const text = getScalarValue(building.text, event);
  if (event.style === SCALAR_STYLE.DOUBLE_QUOTED) refuseEscapedSlash(building.text, event);
  if (event.style === SCALAR_STYLE.PLAIN && building.flowDepth > 0 && text.includes('?')) {
    throw new ManifestSyntaxError(`"?" must be quoted inside brackets and braces`, event.valueStart);
  }
  const tag = event.tagStart < 0 ? null : building.text.slice(event.tagStart, event.tagEnd);
  const plain = tag === null && event.style === SCALAR_STYLE.PLAIN;
  const offset = scalarOffset(event);
  const scalar = plain ? resolvePlain(text) : resolveTag(tag, text);
  if (scalar.kind === 'problem') throw new ManifestSyntaxError(scalar.message, offset);
  const isMerge = text === '<<' && (plain || shortTag(tag ?? '') === 'merge');
  return {value: scalar.value, size: 1, offset, scalar, isMerge};
}

/** YAML 1.2 has the escape \/, the kubelet's YAML 1.1 has not. */
function refuseEscapedSlash(text: string, event: ScalarEvent): void {
  const at = /^(?:[^\\]|\\[^/])*?\\\//.exec(text.slice(event.valueStart, event.valueEnd));
  if (at !== null) throw new ManifestSyntaxError('found unknown escape character', event.valueStart + at[0].length - 1);
}

function resolveTag(tag: string | null, text: string): ResolvedScalar {
  return tag === null ? {kind: 'string', value: text} : resolveTagged(shortTag(tag), text);
}

/** The name of a tag of YAML's own, '' for any other. */
function shortTag(tag: string): string {
  return /^(?:!!|!<tag:yaml\.org,2002:)([a-z]+)>?$/.exec(tag)?.[1] ?? '';
}

/** Where the scalar begins for a reader: at its quote, not behind it. */
function scalarOffset(event: ScalarEvent): number {
  const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
  return Math.max(event.valueStart - (quoted ? 1 : 0), 0);
}

function buildSequence(building: Building, offset: number, before: number): Node {
  const items: ManifestValue[] = [];
  while (!atEnd(building)) {
    building.path.push(items.length);
    items.push(buildNode(building).value);
    building.path.pop();
  }
  building.next++;
  return {value: items, size: building.visits - before, offset};
}

function buildMapping(building: Building, offset: number, before: number): Node {
  const entries = new Map<string, ManifestValue>();
  /** Keys written in this very mapping, not merged into it. */
  const written = new Set<string>();
  while (!atEnd(building)) {
    const key = buildNode(building);
    if (key.isMerge === true) {
      mergeInto(entries, written, buildMergeValues(building, key.offset), {building, offset: key.offset});
      continue;
    }
    if (building.flowDepth > 0) refuseLongKey(building, key.offset);
    const name = key.scalar === undefined ? undefined : keyText(key.scalar);
    if (name === undefined) throw new ManifestSyntaxError('this cannot be the key of a mapping', key.offset);
    building.path.push(name);
    if (written.has(name)) building.duplicates.push({path: pathText(building.path), offset: key.offset});
    written.add(name);
    entries.set(name, buildNode(building).value);
    building.path.pop();
  }
  building.next++;
  return {value: entries, size: building.visits - before, offset};
}

/** Inside braces the kubelet's YAML wants a key and its colon in one line. A lone value may span lines. */
function refuseLongKey({text, events, next}: Building, offset: number): void {
  const [key, value] = [events[next - 1], events[next]];
  if (key?.type !== EVENT_ID.SCALAR || value?.type === EVENT_ID.POP) return;
  const hasValue = value?.type !== EVENT_ID.SCALAR || value.valueStart >= 0;
  if (hasValue && /[\r\n]/.test(text.slice(key.valueStart, key.valueEnd))) {
    throw new ManifestSyntaxError('a key must not span lines', offset);
  }
}

function atEnd(building: Building): boolean {
  return building.events[building.next]?.type === EVENT_ID.POP;
}

type Merged = ReadonlyMap<string, ManifestValue>;

/** The mappings a `<<` brings in, the strongest last. */
function buildMergeValues(building: Building, offset: number): readonly Merged[] {
  const {value} = buildNode(building);
  const sources: readonly ManifestValue[] = Array.isArray(value) ? (value as ManifestValue[]).toReversed() : [value];
  return sources.map(source => {
    if (source instanceof Map) return source as Merged;
    throw new ManifestSyntaxError('map merge requires map or sequence of maps as the value', offset);
  });
}

/** Go lets a merge replace keys that stand before it, which nobody expects: those are reported like duplicates. */
function mergeInto(
  entries: Map<string, ManifestValue>,
  written: ReadonlySet<string>,
  sources: readonly Merged[],
  {building, offset}: {readonly building: Building; readonly offset: number},
): void {
  for (const source of sources) {
    for (const [name, value] of source) {
      if (written.has(name)) building.duplicates.push({path: pathText([...building.path, name]), offset});
      entries.set(name, value);
    }
  }
}
