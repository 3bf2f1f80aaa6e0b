// For tests of the compare: what a kubelet was recorded to do, as if we had done it.
import {containersOf} from './containers.js';
import {dependsOnDurations} from './stop-timeouts.js';
import type {Golden, GoldenCall, Json, JsonObject, PodRun, RunPlaces, TracedCall} from './types.js';

export const PLACES: RunPlaces = {rootDir: '/var/lib/mk', logsDir: '/var/log/mk', resolver: '192.0.2.53'};

/** When the manifest of a playback is removed, ms. */
export const REMOVED_AT = 100_000;

const VALUES: Readonly<Record<string, string>> = {
  '<uid>': '57c56eb33d4a18bbaa55553c49e40f93',
  '<time>': '2026-03-01T12:00:00Z',
  '<random>': '0a1b2c3d',
  '<image>': `sha256:${'5'.repeat(64)}`,
  '<id>': `containerd://${'7'.repeat(64)}`,
  '<root>': PLACES.rootDir,
  '<logs>': PLACES.logsDir,
  '<resolver>': PLACES.resolver,
  '<podIP>': '10.88.0.7',
  '<hostIP>': '198.51.100.4',
};

/** Placeholders filled in. */
export function filledIn<Value extends Json>(value: Value): Value {
  const text = JSON.stringify(value);
  const filled = Object.entries(VALUES).reduce((all, [name, meaning]) => all.replaceAll(name, meaning), text);
  return JSON.parse(filled) as Value;
}

/** `manifest`: the pod's manifest, for its spec. */
export function playback(golden: Golden, manifest: JsonObject): PodRun {
  const {spec, metadata} = manifest;
  const object = {spec, metadata, status: filledIn(golden.statusWhileUp)} as JsonObject;
  return {
    pod: golden.pod,
    uid: VALUES['<uid>'] ?? '',
    podIP: VALUES['<podIP>'] ?? '',
    object,
    calls: timed(filledIn(golden.calls as unknown as Json) as unknown as readonly GoldenCall[], object),
    removedAt: REMOVED_AT,
    removedAlive: [],
  };
}

const STEP_MS = 10;

/** Each call at its time: those of the pod's end after the removal, with hooks and waits as long as timeouts tell. */
function timed(calls: readonly GoldenCall[], object: JsonObject): readonly TracedCall[] {
  const lastOfLife = calls.findLastIndex(
    ({call, timeout}) => call === 'StartContainer' || (call === 'ExecSync' && timeout !== '0'),
  );
  const spentOn = spentGraces(calls, object);
  const waited = Math.max(0, ...spentOn.values());
  const traced = calls.map((call, index): TracedCall => {
    const spent = spentOn.get(call.container ?? '') ?? 0;
    const isEnd = index > lastOfLife;
    const start = (isEnd ? REMOVED_AT : 1000) + index * STEP_MS;
    if (!isEnd || call.call === 'StopPodSandbox') return ended(call, isEnd ? start + waited + 1000 : start, 0);
    if (call.call === 'StopContainer') return ended(call, start + spent, spent > 0 ? 0 : waited);
    return ended(call, start, call.call === 'ExecSync' ? spent : 0);
  });
  return traced.toSorted((left, right) => left.at - right.at);
}

function ended(call: GoldenCall, at: number, tookMs: number): TracedCall {
  return {...call, at, endedAt: at + tookMs + STEP_MS / 2, failed: false};
}

/** Of containers whose timeout depends on durations: how much of the grace was gone at the stop, ms. */
function spentGraces(calls: readonly GoldenCall[], object: JsonObject): ReadonlyMap<string, number> {
  return new Map(
    containersOf(object)
      .filter(dependsOnDurations)
      .map(({name, graces}) => {
        const stop = calls.findLast(call => call.call === 'StopContainer' && call.container === name);
        return [name, ((graces[0] ?? 0) - Number(stop?.timeout ?? 0)) * 1000] as const;
      }),
  );
}
