// How much an object holds on to: the sizes of all collections that can be reached from it, through private fields and the
// variables of closures, too. Node's own inspector shows both.
import {EventEmitter, getEventListeners} from 'node:events';
import {Session, type Runtime} from 'node:inspector';

/**
 * Sizes of maps, sets and arrays, and of the listeners of signals, by what holds them: `PodCache.#entries`, `mounted` for a variable, `[]` after it for what is
 * in a collection. Those of one name are added up: an object may be reached on more ways than one.
 */
export type Footprint = ReadonlyMap<string, number>;

/** `except`: what is not looked into, e.g. the test's own recorders. */
export function footprintOf(root: object, except: readonly object[]): Footprint {
  const session = new Session();
  session.connect();
  try {
    return walk(new Inspector(session), root, except);
  } finally {
    session.disconnect();
  }
}

/** Collections of `after` that hold more than `before`, as `name: before -> after`. */
export function growth(before: Footprint, after: Footprint): readonly string[] {
  return [...after].flatMap(([name, size]) => {
    const was = before.get(name) ?? 0;
    return size > was ? [`${name}: ${was} -> ${size}`] : [];
  });
}

function walk(inspector: Inspector, root: object, except: readonly object[]): Footprint {
  const sizes = new Map<string, number>();
  const seen = new Set<object>([...except, globalThis, process, console]);
  const waiting: [string, unknown][] = [['', root]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [name, value] = next;
    if (!isOfInterest(value) || seen.has(value)) continue;
    seen.add(value);
    const size = sizeOf(value);
    if (size > 0) sizes.set(name, (sizes.get(name) ?? 0) + size);
    waiting.push(...partsOf(inspector, name, value));
  }
  return sizes;
}

/** Of a signal, how many wait for it. */
function sizeOf(value: object): number {
  if (value instanceof AbortSignal) return getEventListeners(value, 'abort').length;
  return value instanceof Map || value instanceof Set ? value.size : Array.isArray(value) ? value.length : 0;
}

/** Node's own machinery is left alone. */
function isOfInterest(value: unknown): value is object {
  if (typeof value === 'function' || value instanceof AbortSignal) return true;
  if (typeof value !== 'object' || value === null) return false;
  return !(value instanceof EventTarget || value instanceof EventEmitter || ArrayBuffer.isView(value));
}

type Part = readonly [string, unknown];

function partsOf(inspector: Inspector, name: string, value: object): [string, unknown][] {
  if (value instanceof AbortSignal) return [];
  const element = (part: unknown): [string, unknown] => [`${name}[]`, part];
  if (value instanceof Map) return [...value].flat().map(element);
  if (value instanceof Set || Array.isArray(value)) return [...(value as Iterable<unknown>)].map(element);
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  const owner = isPlain || typeof value === 'function' ? '' : `${value.constructor.name}.`;
  const own = Object.entries(Object.getOwnPropertyDescriptors(value)).map(([key, {value: part}]): Part => [key, part]);
  return [...own, ...(isPlain ? [] : inspector.hidden(value))].map(([key, part]) => [owner + key, part]);
}

/** What the module loader adds to every scope. */
const LOADER = /^__vi/;

class Inspector {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Private fields of an instance, captured variables of a function. */
  hidden(value: object): readonly Part[] {
    const held = globalThis as {footprint?: unknown};
    held.footprint = value;
    const {result} = this.#post('Runtime.evaluate', {expression: 'globalThis.footprint'}) as Runtime.EvaluateReturnType;
    const {privateProperties = [], internalProperties = []} = this.#properties(result);
    const scopes = internalProperties.find(({name}) => name === '[[Scopes]]')?.value;
    const variables = scopes === undefined ? [] : this.#variables(scopes);
    delete held.footprint;
    return [...privateProperties, ...variables].flatMap(({name, value: remote}) => {
      const local = this.#local(remote);
      return local === undefined ? [] : [[name, local] as const];
    });
  }

  #variables(scopes: Runtime.RemoteObject): readonly Remote[] {
    return this.#properties(scopes).result.flatMap(({value: scope}) => {
      if (scope === undefined || /^(Global|Script)/.test(scope.description ?? '')) return [];
      return this.#properties(scope).result.filter(({name}) => !LOADER.test(name));
    });
  }

  #properties({objectId}: Runtime.RemoteObject): PropertiesOf {
    if (objectId === undefined) return {result: []};
    return this.#post('Runtime.getProperties', {objectId, ownProperties: true}) as PropertiesOf;
  }

  /** The object itself; undefined for what is none. */
  #local(remote: Runtime.RemoteObject | undefined): unknown {
    if (remote?.objectId === undefined) return undefined;
    const held = globalThis as {footprint?: unknown};
    const functionDeclaration = 'function () { globalThis.footprint = this; }';
    this.#post('Runtime.callFunctionOn', {objectId: remote.objectId, functionDeclaration});
    const local = held.footprint;
    delete held.footprint;
    return local;
  }

  /** An inspector of the own thread answers before post() returns. */
  #post(method: string, parameters: object): unknown {
    let answer: unknown;
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw new Error(error.message);
      answer = result;
    });
    return answer;
  }
}

interface Remote {
  readonly name: string;
  readonly value?: Runtime.RemoteObject | undefined;
}

interface PropertiesOf extends Pick<Runtime.GetPropertiesReturnType, 'result' | 'internalProperties'> {
  readonly privateProperties?: readonly Remote[];
}
