// The compare itself: a recorded trace agrees with itself, and with nothing else.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {decodeObject} from '../../../src/core/pod/decode.js';
import {parseYaml} from '../../../src/manifest/yaml.js';
import {comparePod} from './compare-pod.js';
import {crashLoops} from './containers.js';
import {isObject} from './json.js';
import {loadGoldens} from './load.js';
import {RECORDED_ON} from './machine.js';
import {PLACES, playback} from './playback.js';
import type {Golden, Json, JsonObject, PodRun, TracedCall} from './types.js';

const here = import.meta.dirname;
const goldens = [...(await loadGoldens(join(here, '../golden-traces'))).values()];

function played(golden: Golden): PodRun {
  const text = readFileSync(join(here, '../corpus', golden.manifest), 'utf8');
  return playback(golden, decodeObject('Pod', parseYaml(text).value).value as unknown as JsonObject);
}

function compared(golden: Golden, run: PodRun): readonly string[] {
  return comparePod(golden, run, PLACES, RECORDED_ON);
}

function goldenOf(manifest: string): Golden {
  const found = goldens.find(golden => golden.manifest === manifest);
  if (found === undefined) throw new Error(`no golden of ${manifest}`);
  return found;
}

test.for(goldens)('$manifest agrees with itself', golden => {
  expect(compared(golden, played(golden))).toEqual([]);
});

const stable = goldens.filter(({statusWhileUp}) => crashLoops(statusWhileUp).size === 0);

test.for(stable)('every field of the sandbox, the first container and the status of $manifest counts', golden => {
  const run = played(golden);
  const unseen: string[] = [];
  for (const name of ['RunPodSandbox', 'CreateContainer'] as const) {
    const index = run.calls.findIndex(({call}) => call === name);
    const call = run.calls[index];
    if (call?.config === undefined) throw new Error(`${golden.manifest} has no ${name}`);
    for (const [path, config] of mutants(call.config)) {
      const calls = run.calls.with(index, {...call, config: config as JsonObject});
      if (compared(golden, {...run, calls}).length === 0) unseen.push(`${call.call} ${path}`);
    }
  }
  for (const [path, status] of mutants(run.object['status'] as JsonObject)) {
    if (compared(golden, {...run, object: {...run.object, status}}).length === 0) unseen.push(`status ${path}`);
  }
  expect(unseen).toEqual([]);
});

test.for(stable)('every compared call of $manifest counts', golden => {
  const run = played(golden);
  const counts = (call: TracedCall): boolean =>
    ['RunPodSandbox', 'CreateContainer', 'StartContainer', 'ExecSync', 'StopContainer'].includes(call.call);
  const unseen = run.calls.filter(counts).filter(call => {
    const calls = run.calls.filter(other => other !== call);
    return compared(golden, {...run, calls}).length === 0;
  });
  expect(unseen).toEqual([]);
});

/** Every value with one leaf changed, and every one with one key left out. */
function mutants(value: Json, path = ''): readonly (readonly [string, Json])[] {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return items.flatMap((item, index) =>
      mutants(item, `${path}[${index}]`).map(([at, mutant]) => [at, items.with(index, mutant)] as const),
    );
  }
  if (isObject(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([key, inner]) => {
      const {[key]: _left, ...rest} = value;
      const inside = mutants(inner ?? null, `${path}.${key}`).map(
        ([at, mutant]) => [at, {...value, [key]: mutant}] as const,
      );
      return [...inside, [`${path}.${key} left out`, rest] as const];
    });
  }
  return [[path, changedLeaf(value)]];
}

function changedLeaf(value: Json): Json {
  if (typeof value === 'string') return `${value}~`;
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : 'changed';
}

interface Change {
  readonly of: string;
  readonly what: string;
  readonly change: (run: PodRun) => PodRun;
  readonly found: RegExp | null;
}

const swapped = (run: PodRun, name: string, left: TracedCall['call'], right: string): PodRun => {
  const first = run.calls.findIndex(call => call.call === left && call.container === name);
  const second = run.calls.findIndex(call => call.call === left && call.container === right);
  const at = (index: number): TracedCall => run.calls[index] as TracedCall;
  const moved = (to: number, from: number): TracedCall => ({...at(from), at: at(to).at, endedAt: at(to).endedAt});
  return {...run, calls: run.calls.with(first, moved(first, second)).with(second, moved(second, first))};
};

const changedCalls =
  (change: (call: TracedCall) => TracedCall | readonly TracedCall[]) =>
  (run: PodRun): PodRun => ({
    ...run,
    calls: run.calls.flatMap(change),
  });

const withState =
  (state: JsonObject, more: JsonObject = {}) =>
  (run: PodRun): PodRun => {
    const status = run.object['status'] as JsonObject;
    const [container] = status['containerStatuses'] as readonly JsonObject[];
    return {...run, object: {...run.object, status: {...status, containerStatuses: [{...container, state, ...more}]}}};
  };

const ofAttempt =
  (last: number) =>
  (run: PodRun): PodRun => ({
    ...run,
    calls: run.calls.filter(({attempt = 0, config}) => {
      const {attempt: created = attempt} = (config?.['metadata'] ?? {}) as {readonly attempt?: number};
      return created <= last;
    }),
  });

const CHANGES: readonly Change[] = [
  {
    of: 'init-two.yaml',
    what: 'a second init container that starts before the first',
    change: run => swapped(run, 'first', 'StartContainer', 'second'),
    found: /second was started before first/,
  },
  {
    of: 'resources.yaml',
    what: 'regular containers that start out of order',
    change: run => swapped(run, 'both', 'StartContainer', 'tiny'),
    found: /was started before/,
  },
  {
    of: 'resources.yaml',
    what: 'regular containers that stop in another order',
    change: run => swapped(run, 'limits', 'StopContainer', 'tiny'),
    found: null,
  },
  {
    of: 'sidecar.yaml',
    what: 'a sidecar that stops while a regular container is stopping',
    change: changedCalls(call =>
      call.call === 'StopContainer' && call.container === 'proxy' ? {...call, at: call.at - 1500, timeout: '4'} : call,
    ),
    found: /sidecar proxy was stopped before main had stopped/,
  },
  {
    of: 'hooks.yaml',
    what: 'a stop whose timeout knows nothing of its hook',
    change: changedCalls(call =>
      call.call === 'StopContainer' && call.container === 'main' ? {...call, timeout: '6'} : call,
    ),
    found: /main: StopContainer timeout: want 3, got 6/,
  },
  {
    of: 'hooks.yaml',
    what: 'a probe where none was recorded',
    change: changedCalls(call =>
      call.call === 'StopPodSandbox'
        ? [{...call, call: 'ExecSync', container: 'main', attempt: 0, cmd: ['true'], timeout: '1'}, call]
        : call,
    ),
    found: /want 0 times, got 1/,
  },
  {
    of: 'basic.yaml',
    what: 'a sandbox that stops before its container',
    change: changedCalls(call => (call.call === 'StopPodSandbox' ? {...call, at: 0} : call)),
    found: /the sandbox was stopped before main/,
  },
  {
    of: 'basic.yaml',
    what: 'a container removed while it ran',
    change: run => ({...run, removedAlive: ['container main was removed while it ran']}),
    found: /removed while it ran/,
  },
  {
    of: 'basic.yaml',
    what: 'a second start',
    change: changedCalls(call => (call.call === 'StartContainer' ? [call, call] : call)),
    found: /attempt 0: want CreateContainer, StartContainer/,
  },
  {
    of: 'liveness.yaml',
    what: 'a crash loop that came less far, and runs again',
    change: run => withState({running: {startedAt: '2026-03-01T12:00:00Z'}}, {restartCount: 2})(ofAttempt(2)(run)),
    found: null,
  },
  {
    of: 'liveness.yaml',
    what: 'a crash loop that ended otherwise',
    change: withState(
      {waiting: {reason: 'CrashLoopBackOff'}},
      {lastState: {terminated: {exitCode: 1, reason: 'Error'}}},
    ),
    found: /want Completed with exit code 0, got Error with exit code 1/,
  },
  {
    of: 'liveness.yaml',
    what: 'a container that was never restarted',
    change: ofAttempt(0),
    found: /want it restarted/,
  },
  {
    of: 'liveness.yaml',
    what: 'a probe that came once more before the kill',
    change: changedCalls(call =>
      call.call === 'StopContainer' && call.attempt === 0
        ? [{...call, call: 'ExecSync', cmd: ['false'], timeout: '1'}, call]
        : call,
    ),
    found: /attempt 0: before StopContainer within 3 s: .* want 2 times, got 3/,
  },
];

test.for(CHANGES)('$of: $what', ({of, change, found}) => {
  const golden = goldenOf(of);
  const differences = compared(golden, change(played(golden))).join('\n');
  if (found === null) expect(differences).toBe('');
  else expect(differences).toMatch(found);
});
