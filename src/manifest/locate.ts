// From a field path to the line and column of the field. Nothing is kept for it while reading: a document is scanned
// again when an error needs it.
import {EVENT_ID, getScalarValue, SCALAR_STYLE} from 'js-yaml';
import {ManifestSyntaxError, type PathStep} from './syntax.js';
import {scanYaml, type ScannedYaml} from './yaml-scan.js';

/** Lines and columns count from 1; a column is a UTF-16 unit. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Line and column of an offset; `firstLine` is the line that the text begins in. */
export function positionOfOffset(text: string, offset: number, firstLine = 1): TextPosition {
  const lines = text.slice(0, offset).split(/\r\n|\n|\r/);
  return {line: firstLine + lines.length - 1, column: (lines.at(-1)?.length ?? 0) + 1};
}

/** Finds fields in one document's text. It is scanned when the first one is asked for, and only then. */
export interface FieldLocator {
  /**
   * The offset of the field that a path names: of its key, or of a list's item. The nearest outer field stands in for
   * one that is not there.
   */
  readonly offsetOf: (path: string) => number;
}

export function fieldLocator(text: string): FieldLocator {
  let walk: Walk | null | undefined;
  return {
    offsetOf(path) {
      walk ??= walk === null ? null : tryWalk(text);
      return walk === null ? 0 : walk.originalOffset(locateSteps(walk, parsePath(path)));
    },
  };
}

/** null = a JSON text that YAML cannot read: it still has a beginning. */
function tryWalk(text: string): Walk | null {
  try {
    return startWalk(scanYaml(text));
  } catch (error) {
    if (error instanceof ManifestSyntaxError) return null;
    throw error;
  }
}

/** `spec.containers[0].resources.limits[memory]` as steps. Names may hold what is neither dot nor bracket. */
function parsePath(path: string): readonly PathStep[] {
  const steps: PathStep[] = [];
  for (const [, index, key, name] of path.matchAll(/\[(\d+)\]|\[([^\]]*)\]|([^.[\]]+)/g)) {
    steps.push(index !== undefined ? Number(index) : (key ?? name ?? ''));
  }
  return steps;
}

/** The events of one document, and what is needed to follow them. */
interface Walk extends ScannedYaml {
  /** Index of the node that carries an anchor; the last one of a name, which is the only one in practice. */
  readonly anchors: ReadonlyMap<string, number>;
}

function startWalk(scanned: ScannedYaml): Walk {
  const {text, events} = scanned;
  const anchors = new Map<string, number>();
  events.forEach((event, index) => {
    if (event.type === EVENT_ID.ALIAS || !('anchorStart' in event) || event.anchorStart < 0) return;
    anchors.set(text.slice(event.anchorStart, event.anchorEnd), index);
  });
  return {...scanned, anchors};
}

function locateSteps(walk: Walk, steps: readonly PathStep[]): number {
  let node = 1;
  let best = offsetOf(walk, node);
  for (const step of steps) {
    const child = findChild(walk, node, step);
    if (child === undefined) return best;
    best = child.offset;
    node = child.node;
  }
  return best;
}

interface Child {
  readonly node: number;
  /** Of the key, or of the item itself. */
  readonly offset: number;
}

function findChild(walk: Walk, parent: number, step: PathStep): Child | undefined {
  const node = followAlias(walk, parent);
  const type = walk.events[node]?.type;
  if (type === EVENT_ID.SEQUENCE && typeof step === 'number') {
    const item = childrenOf(walk, node)[step];
    return item === undefined ? undefined : {node: item, offset: offsetOf(walk, item)};
  }
  return type === EVENT_ID.MAPPING ? findValue(walk, node, String(step)) : undefined;
}

/** The last key of that name, as it is the one that counts; merged keys as far as they stand in its place. */
function findValue(walk: Walk, mapping: number, name: string): Child | undefined {
  const children = childrenOf(walk, mapping);
  for (let at = children.length - 2; at >= 0; at -= 2) {
    const [key = 0, value = 0] = children.slice(at, at + 2);
    const written = scalarOf(walk, key);
    if (written === name) return {node: value, offset: offsetOf(walk, key)};
    if (written !== '<<') continue;
    const source = followAlias(walk, value);
    const sources = walk.events[source]?.type === EVENT_ID.SEQUENCE ? childrenOf(walk, source) : [source];
    const merged = sources.map(item => findChild(walk, item, name)).find(found => found !== undefined);
    if (merged !== undefined) return merged;
  }
  return undefined;
}

function followAlias(walk: Walk, node: number): number {
  const event = walk.events[node];
  if (event?.type !== EVENT_ID.ALIAS) return node;
  return walk.anchors.get(walk.text.slice(event.anchorStart, event.anchorEnd)) ?? node;
}

/** Nodes directly inside a collection; keys and values take turns in a mapping. */
function childrenOf({events}: Walk, node: number): readonly number[] {
  const children: number[] = [];
  let depth = 0;
  for (let at = node + 1; at < events.length && depth >= 0; at++) {
    const type = events[at]?.type;
    if (type === EVENT_ID.POP) {
      depth--;
      continue;
    }
    if (depth === 0) children.push(at);
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++;
  }
  return children;
}

function scalarOf({text, events}: Walk, node: number): string | undefined {
  const event = events[node];
  return event?.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : undefined;
}

function offsetOf({events}: Walk, node: number): number {
  const event = events[node];
  switch (event?.type) {
    case EVENT_ID.SCALAR: {
      const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
      return Math.max(event.valueStart - (quoted ? 1 : 0), 0);
    }
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start;
    case EVENT_ID.ALIAS:
      return Math.max(event.anchorStart - 1, 0);
    case EVENT_ID.DOCUMENT:
    case EVENT_ID.POP:
    case undefined:
      return 0;
  }
}
