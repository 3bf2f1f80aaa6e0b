// Compares, container by container, the order of Create, Start, ExecSync and Stop, with the commands of execs and the timeouts
// of execs and stops.
import {isDeepStrictEqual} from 'node:util';
import {containerOf, type PodContainer} from './containers.js';
import {dependsOnDurations, wrongTimeout} from './stop-timeouts.js';
import type {GoldenCall, PodRun} from './types.js';

/** What happened to one attempt of a container: calls that have their place, and between them probes, which have none. */
interface Step {
  /** The call in words. */
  readonly call: string;
  /** How often each exec of a probe came before it, after the step before. */
  readonly probes: ReadonlyMap<string, number>;
}

interface Attempt {
  readonly steps: readonly Step[];
  /** Probes after the last step. */
  readonly open: ReadonlyMap<string, number>;
}

type CallWords = (call: GoldenCall) => string;

export interface OrderCompare {
  readonly golden: readonly GoldenCall[];
  readonly run: PodRun;
  readonly containers: readonly PodContainer[];
  readonly looping: ReadonlySet<string>;
}

/** What differs, a line each. */
export function compareOrder(compare: OrderCompare): readonly string[] {
  return compare.containers.flatMap(container => {
    const {name} = container;
    const words = callWords(container);
    const want = attempts(compare.golden, name, words);
    const got = attempts(compare.run.calls, name, words);
    const once = startupWords(container, [...compare.golden, ...compare.run.calls], words);
    const differences = compare.looping.has(name) ? loopDifferences : plainDifferences;
    const found = differences(want, got, once);
    return [...found.map(line => `${name}: ${line}`), ...timeoutDifferences(container, compare)];
  });
}

/** How calls are named: the timeout of a stop is left out where it depends on durations. */
function callWords(container: PodContainer): CallWords {
  return ({call, timeout = '', cmd = []}) => {
    if (call === 'StopContainer') return dependsOnDurations(container) ? call : `${call} within ${timeout} s`;
    return call === 'ExecSync' ? `${call} ${JSON.stringify(cmd)} within ${timeout} s` : call;
  };
}

/** The exec of a container's startup probe, in the words of calls; '' = it has none. */
function startupWords({startupCommand}: PodContainer, calls: readonly GoldenCall[], words: CallWords): string {
  const call = calls.find(({cmd, timeout}) => timeout !== '0' && isDeepStrictEqual(cmd, startupCommand));
  return call?.cmd === undefined ? '' : words(call);
}

const ORDERED: ReadonlySet<string> = new Set(['CreateContainer', 'StartContainer', 'ExecSync', 'StopContainer']);

/** By number of the attempt. Hooks are execs without a timeout, probes have one. */
function attempts(calls: readonly GoldenCall[], name: string, words: CallWords): ReadonlyMap<number, Attempt> {
  const found = new Map<number, {steps: Step[]; open: Map<string, number>}>();
  for (const call of calls) {
    const container = containerOf(call);
    if (container?.name !== name || !ORDERED.has(call.call)) continue;
    const attempt = found.get(container.attempt) ?? {steps: [], open: new Map<string, number>()};
    found.set(container.attempt, attempt);
    const text = words(call);
    if (call.call === 'ExecSync' && call.timeout !== '0') {
      attempt.open.set(text, (attempt.open.get(text) ?? 0) + 1);
    } else {
      attempt.steps.push({call: text, probes: attempt.open});
      attempt.open = new Map();
    }
  }
  return found;
}

function plainDifferences(
  want: ReadonlyMap<number, Attempt>,
  got: ReadonlyMap<number, Attempt>,
  once: string,
): readonly string[] {
  const numbers = [...new Set([...want.keys(), ...got.keys()])];
  return numbers.flatMap(number => {
    const wanted = want.get(number) ?? NO_ATTEMPT;
    const seen = got.get(number) ?? NO_ATTEMPT;
    const isLast = !want.has(number + 1);
    return attemptDifferences(wanted, seen, {isLast, once}).map(line => `attempt ${number}: ${line}`);
  });
}

const NO_ATTEMPT: Attempt = {steps: [], open: new Map()};

interface ProbeRules {
  /** Whether the pod's own end may have ended it. */
  readonly isLast: boolean;
  /** The exec that ends with its first success, in words; '' = none. */
  readonly once: string;
}

function attemptDifferences(want: Attempt, got: Attempt, {isLast, once}: ProbeRules): readonly string[] {
  const sequence = sequenceDifference(want.steps, got.steps);
  if (sequence !== null) return [sequence];
  const places = [...want.steps, {call: 'its end', probes: want.open}];
  const seen = [...got.steps, {call: 'its end', probes: got.open}];
  return places.flatMap(({call, probes}, index) => {
    // A stop that a probe caused comes after just so many; how often a probe came before the pod's end is a matter of time.
    const isExact = call.startsWith('StopContainer') && !isLast;
    const agree = (probe: string, wanted: number, times: number): boolean =>
      isExact || (probe === once && wanted === 1) ? wanted === times : isAboutAsOften(wanted, times);
    return probeDifferences(probes, seen[index]?.probes ?? new Map<string, number>(), agree).map(
      line => `before ${call}: ${line}`,
    );
  });
}

function sequenceDifference(want: readonly Step[], got: readonly Step[]): string | null {
  const words = (steps: readonly Step[]): string => steps.map(({call}) => call).join(', ') || 'nothing';
  return words(want) === words(got) ? null : `want ${words(want)}; got ${words(got)}`;
}

function probeDifferences(
  want: ReadonlyMap<string, number>,
  got: ReadonlyMap<string, number>,
  agree: (probe: string, want: number, got: number) => boolean,
): readonly string[] {
  return [...new Set([...want.keys(), ...got.keys()])].flatMap(probe => {
    const [wanted, seen] = [want.get(probe) ?? 0, got.get(probe) ?? 0];
    return agree(probe, wanted, seen) ? [] : [`${probe}: want ${wanted} times, got ${seen}`];
  });
}

/** One more or less at each end of a time, and a tenth for clocks of a loaded machine; never none against some. */
function isAboutAsOften(want: number, got: number): boolean {
  return Math.min(want, got) > 0 && Math.abs(want - got) <= Math.max(2, want / 10);
}

/** Of a crash loop: every attempt that both have is the same; of the last one as much as both have come to. */
function loopDifferences(
  want: ReadonlyMap<number, Attempt>,
  got: ReadonlyMap<number, Attempt>,
  once: string,
): readonly string[] {
  const last = Math.min(Math.max(...want.keys()), Math.max(...got.keys()));
  if (last < 1) return [`want it restarted, got attempts ${[...got.keys()].join(', ') || 'none'}`];
  const numbers = [...got.keys()].filter(number => number <= last && want.has(number));
  return numbers.flatMap(number => {
    const [wanted, seen] = [want.get(number) ?? NO_ATTEMPT, got.get(number) ?? NO_ATTEMPT];
    const found =
      number < last ? attemptDifferences(wanted, seen, {isLast: false, once}) : beginDifferences(wanted, seen);
    return found.map(line => `attempt ${number}: ${line}`);
  });
}

/** The pod's end may have come to an attempt at any step of it. */
function beginDifferences(want: Attempt, got: Attempt): readonly string[] {
  const steps = (attempt: Attempt): readonly Step[] =>
    attempt.steps.filter(({call}) => !call.startsWith('StopContainer'));
  const [wanted, seen] = [steps(want), steps(got)];
  const length = Math.min(wanted.length, seen.length);
  const found = sequenceDifference(wanted.slice(0, length), seen.slice(0, length));
  return found === null ? [] : [found];
}

function timeoutDifferences(container: PodContainer, {run}: OrderCompare): readonly string[] {
  if (!dependsOnDurations(container)) return [];
  const stops = run.calls.filter(call => call.call === 'StopContainer' && call.container === container.name);
  return stops.flatMap(stop => {
    const wrong = wrongTimeout(container, stop, run);
    return wrong === null ? [] : [`${container.name}: StopContainer ${wrong}`];
  });
}
