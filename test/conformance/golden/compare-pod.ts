// Compares one pod of a run with its recorded trace, field by field as ../golden-traces and its README say.
import {difference} from '../family.js';
import {compareOrder} from './compare-order.js';
import {compareStatus} from './compare-status.js';
import {outOfOrder} from './container-order.js';
import {containerOf, containersOf, crashLoops, type PodContainer} from './containers.js';
import {objectAt} from './json.js';
import {restated, withSortedLists} from './machine.js';
import {bind, meaningsFor, type Meanings} from './placeholders.js';
import type {Golden, GoldenCall, JsonObject, MachineFacts, PodRun, RunPlaces} from './types.js';

/** What differs, a line each; nothing = equal. */
export function comparePod(golden: Golden, run: PodRun, places: RunPlaces, machine: MachineFacts): readonly string[] {
  const meanings = meaningsFor(run, places);
  const containers = containersOf(run.object);
  const looping = crashLoops(golden.statusWhileUp);
  return [
    ...unknownContainers(golden, containers).map(name => `the pod has no container ${name}`),
    ...titled('sandbox', sandboxDifferences(golden, run, meanings)),
    ...containerDifferences(golden, run, meanings, machine),
    ...titled('order', compareOrder({golden: golden.calls, run, containers, looping})),
    ...titled('order', outOfOrder(containers, run)),
    ...titled('end', endDifferences(golden, run)),
    ...titled('status', statusDifferences(golden, run, places)),
  ];
}

/** What differs in the status alone, a line each. */
export function statusDifferences(golden: Golden, run: PodRun, places: RunPlaces): readonly string[] {
  return compareStatus({
    want: golden.statusWhileUp,
    got: objectAt(run.object, 'status'),
    meanings: meaningsFor(run, places),
    isHostNetwork: objectAt(run.object, 'spec')['hostNetwork'] === true,
    looping: crashLoops(golden.statusWhileUp),
  });
}

function unknownContainers({calls}: Golden, containers: readonly PodContainer[]): readonly string[] {
  const known = new Set(containers.map(({name}) => name));
  const recorded = new Set(calls.flatMap(call => containerOf(call)?.name ?? []));
  return [...recorded].filter(name => !known.has(name));
}

function titled(title: string, found: readonly string[]): readonly string[] {
  return found.map(line => `${title}: ${line}`);
}

function configsOf(calls: readonly GoldenCall[], call: GoldenCall['call']): readonly JsonObject[] {
  return calls.flatMap(one => (one.call === call && one.config !== undefined ? [one.config] : []));
}

function sandboxDifferences(golden: Golden, run: PodRun, meanings: Meanings): readonly string[] {
  const want = configsOf(golden.calls, 'RunPodSandbox');
  const got = configsOf(run.calls, 'RunPodSandbox');
  return lines(difference(bind(want, got, meanings), got));
}

/** Containers are paired by name and attempt; what one side lacks is told by the order of calls. */
function containerDifferences(
  golden: Golden,
  run: PodRun,
  meanings: Meanings,
  machine: MachineFacts,
): readonly string[] {
  const creates = (calls: readonly GoldenCall[]): ReadonlyMap<string, JsonObject> =>
    new Map(
      calls.flatMap(call => {
        const container = call.call === 'CreateContainer' ? containerOf(call) : null;
        return container === null ? [] : [[`${container.name} attempt ${container.attempt}`, call.config ?? {}]];
      }),
    );
  const got = creates(run.calls);
  return [...creates(golden.calls)].flatMap(([key, want]) => {
    const seen = got.get(key);
    if (seen === undefined) return [];
    const shown = withSortedLists(seen);
    const found = difference(bind(withSortedLists(restated(want, seen, machine)), shown, meanings), shown, Infinity);
    return titled(`container ${key}`, lines(found));
  });
}

/** Nothing is removed before it has stopped, and the sandbox stops when its containers have. */
function endDifferences(golden: Golden, {calls, removedAlive}: PodRun): readonly string[] {
  const stops = calls.filter(({call}) => call === 'StopPodSandbox');
  const wanted = golden.calls.some(({call}) => call === 'StopPodSandbox');
  const last = stops.at(-1);
  const late = calls.filter(
    ({call, at, endedAt}) => call === 'StopContainer' && last !== undefined && (endedAt ?? at) > last.at,
  );
  return [
    ...removedAlive,
    ...(wanted === stops.length > 0 ? [] : [`StopPodSandbox: want ${wanted ? 'it' : 'none'}, got ${stops.length}`]),
    ...late.map(({container}) => `the sandbox was stopped before ${container}`),
  ];
}

function lines(found: string | null): readonly string[] {
  return found === null ? [] : found.split('\n');
}
