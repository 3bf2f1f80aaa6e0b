// The timeout of a StopContainer call whose container first ran a hook or waited for its turn follows from how long that
// took: max(2, grace - whole seconds of the hook - whole seconds of the wait). The run itself has these durations.
import {isDeepStrictEqual} from 'node:util';
import type {PodContainer} from './containers.js';
import type {TracedCall} from './types.js';

/** Seconds below which a kubelet never goes. */
const LEAST = 2;

/** Whether the timeout depends on durations: then it is not compared with the recorded one. */
export function dependsOnDurations({kind, hasPreStop}: PodContainer): boolean {
  return hasPreStop || kind === 'sidecar';
}

/**
 * What is wrong with the timeout of a stop, if anything. `removedAt`: when the manifest was removed, ms of the calls' clock.
 * The stop began when the pod's first call about its end came at the latest; for the pod's own end that is not before the
 * removal, for a stop in its life not before the container started.
 */
export function wrongTimeout(
  container: PodContainer,
  stop: TracedCall,
  calls: readonly TracedCall[],
  removedAt: number,
): string | null {
  const isEnd = stop.at >= removedAt;
  const mine = calls.filter(call => call.container === container.name && call.attempt === stop.attempt);
  const earliest = isEnd ? removedAt : Math.max(...mine.filter(call => call.call === 'StartContainer').map(ended));
  const belongs = isEnd ? isOfTheEnd : isOfAStop(container);
  const ofThisEnd = (isEnd ? calls : mine).filter(call => call.at >= earliest && belongs(call));
  const latest = Math.min(stop.at, ...ofThisEnd.map(call => call.at));
  const most = wholeSeconds(stop.at - earliest);
  // A hook and a wait are each cut to whole seconds.
  const both = container.hasPreStop && container.kind === 'sidecar' ? 1 : 0;
  const least = Math.max(0, wholeSeconds(stop.at - latest) - both);
  const graces = isEnd ? container.graces.slice(0, 1) : container.graces;
  const ranges = graces.map(grace => [Math.max(LEAST, grace - most), Math.max(LEAST, grace - least)] as const);
  const timeout = Number(stop.timeout);
  if (ranges.some(([low, high]) => timeout >= low && timeout <= high)) return null;
  const wanted = ranges.map(([low, high]) => (low === high ? `${low}` : `${low} to ${high}`)).join(' or ');
  return `want ${wanted} (${((stop.at - latest) / 1000).toFixed(1)} s after its end began), got ${timeout}`;
}

/** Once the manifest is removed: stops and hooks. Probes have a timeout, hooks have none. */
function isOfTheEnd({call, timeout}: TracedCall): boolean {
  return call === 'StopContainer' || (call === 'ExecSync' && timeout === '0');
}

/** In the life of the container: its postStart hook is no part of a stop. */
function isOfAStop({preStopCommand}: PodContainer): (call: TracedCall) => boolean {
  return call => isOfTheEnd(call) && (call.cmd === undefined || isDeepStrictEqual(call.cmd, preStopCommand));
}

function ended(call: TracedCall): number {
  return call.endedAt ?? call.at;
}

function wholeSeconds(ms: number): number {
  return Math.floor(Math.max(0, ms) / 1000);
}
