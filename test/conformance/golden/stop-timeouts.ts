// The timeout of a StopContainer call whose container first ran a hook or waited for its turn follows from how long that
// took: max(2, grace - whole seconds of the hook - whole seconds of the wait). The run itself has these durations.
import {isDeepStrictEqual} from 'node:util';
import type {PodContainer} from './containers.js';
import type {PodRun, TracedCall} from './types.js';

/** Seconds below which a kubelet never goes. */
const LEAST = 2;

/** Whether the timeout depends on durations: then it is not compared with the recorded one. */
export function dependsOnDurations({kind, hasPreStop}: PodContainer): boolean {
  return hasPreStop || kind === 'sidecar';
}

/**
 * What is wrong with the timeout of a stop, if anything. The proxy sees calls a little later than the agent makes them, so
 * that hook and wait took at least what the proxy saw of them, and at most the time since the stop can have begun: not
 * before the manifest was removed, or for a stop in the life of the container, not before it started.
 */
export function wrongTimeout(
  container: PodContainer,
  stop: TracedCall,
  {calls, removedAt}: Pick<PodRun, 'calls' | 'removedAt'>,
): string | null {
  const isEnd = stop.at >= removedAt;
  const mine = calls.filter(call => call.container === container.name && call.attempt === stop.attempt);
  const since = isEnd ? removedAt : Math.max(0, ...mine.filter(({call}) => call === 'StartContainer').map(endOf));
  const before = calls.filter(call => call.at >= since && call.at <= stop.at && call !== stop);
  const hook = hookSeconds(container, before);
  const wait = container.kind === 'sidecar' && isEnd ? waitSeconds(container, before) : 0;
  const most = Math.floor((stop.at - since) / 1000);
  const graces = isEnd ? container.graces.slice(0, 1) : container.graces;
  // The wait began after the hook, and each is cut to whole seconds.
  const least = container.hasPreStop && wait > 0 ? Math.max(hook, wait - 1) : Math.max(hook, wait);
  const ranges = graces.map(grace => [Math.max(LEAST, grace - most), Math.max(LEAST, grace - least)] as const);
  const timeout = Number(stop.timeout);
  if (ranges.some(([low, high]) => timeout >= low && timeout <= high)) return null;
  const wanted = ranges.map(([low, high]) => (low === high ? `${low}` : `${low} to ${high}`)).join(' or ');
  return `timeout: want ${wanted}, got ${timeout}`;
}

/** Whole seconds that the container's hook took at least. Of an HTTP or TCP hook no call tells. */
function hookSeconds(
  {name, preStopCommand, preStopSleep, graces}: PodContainer,
  before: readonly TracedCall[],
): number {
  const hook = before.findLast(
    call => call.container === name && isHook(call) && isDeepStrictEqual(call.cmd, preStopCommand),
  );
  if (hook !== undefined) return Math.floor((endOf(hook) - hook.at) / 1000);
  return Math.min(preStopSleep ?? 0, ...graces);
}

/** Whole seconds from the first call about the pod's end until those had stopped that a sidecar waits for. */
function waitSeconds({name}: PodContainer, before: readonly TracedCall[]): number {
  const ends = before.filter(call => call.call === 'StopContainer' || isHook(call));
  const others = ends.filter(call => call.call === 'StopContainer' && call.container !== name);
  const began = Math.min(...ends.map(({at}) => at));
  const over = Math.max(...others.map(endOf));
  return others.length === 0 ? 0 : Math.max(0, Math.floor((over - began) / 1000));
}

/** Probes have a timeout, hooks have none. */
function isHook({call, timeout}: TracedCall): boolean {
  return call === 'ExecSync' && timeout === '0';
}

function endOf(call: TracedCall): number {
  return call.endedAt ?? call.at;
}
