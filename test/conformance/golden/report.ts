// The verdict on each manifest of a run, and its lines.
import {comparePod, statusDifferences} from './compare-pod.js';
import {outOfOrder} from './container-order.js';
import {containerOf, containersOf} from './containers.js';
import {differenceLines} from './differences.js';
import {objectAt, objectsAt, textAt} from './json.js';
import {restatements} from './machine.js';
import type {PodsRun} from './run-corpus.js';
import type {Golden, MachineFacts, PodRun} from './types.js';

export interface Verdict {
  readonly manifest: string;
  /** False = there is no trace of it: it only had to work. */
  readonly hasGolden: boolean;
  /** What is wrong, a line each; nothing = passed. */
  readonly differences: readonly string[];
  /** The calls about its pods, for whoever looks into a difference. */
  readonly calls: readonly string[];
}

/** One verdict for each manifest and each trace. */
export function judge(
  run: PodsRun,
  manifests: readonly string[],
  goldens: ReadonlyMap<string, Golden>,
  machine: MachineFacts,
): readonly Verdict[] {
  const names = [...new Set([...manifests, ...goldens.keys()])].toSorted();
  return names.map(manifest => {
    const golden = goldens.get(manifest);
    const pods = run.pods.get(manifest) ?? [];
    const calls = pods.flatMap(callLines);
    if (golden === undefined) return {manifest, hasGolden: false, differences: whyNotWorking(pods), calls};
    const found = pods.find(({pod}) => pod === golden.pod);
    if (found !== undefined) {
      return {manifest, hasGolden: true, differences: comparePod(golden, found, run.places, machine), calls};
    }
    const missing = manifests.includes(manifest) ? `no pod ${golden.pod} was there` : 'there is no such manifest';
    return {manifest, hasGolden: true, differences: [missing], calls};
  });
}

/** Whether every pod of a run has come to its recorded status, or up. */
export function isSettled(run: PodsRun, manifests: readonly string[], goldens: ReadonlyMap<string, Golden>): boolean {
  return manifests.every(manifest => {
    const golden = goldens.get(manifest);
    const pods = run.pods.get(manifest) ?? [];
    if (golden === undefined) return pods.length > 0 && pods.every(isUp);
    return pods.some(pod => pod.pod === golden.pod && statusDifferences(golden, pod, run.places).length === 0);
  });
}

/** Calls of the periodic clean-up may come when another has just done the work. */
const CLEAN_UP: ReadonlySet<string> = new Set(['StopPodSandbox', 'RemovePodSandbox', 'RemoveContainer']);

/** Without a trace a pod has to come up, with no call refused, and to end in order. */
function whyNotWorking(pods: readonly PodRun[]): readonly string[] {
  if (pods.length === 0) return ['no pod of it was there'];
  return pods.flatMap(run => {
    const refused = run.calls
      .filter(({call, failed}) => failed && !CLEAN_UP.has(call))
      .map(({call}) => `${call} was refused`);
    const stopped = run.calls.some(({call}) => call === 'StopPodSandbox');
    return [
      ...(isUp(run) ? [] : [`it did not come up: ${JSON.stringify(objectAt(run.object, 'status'))}`]),
      ...refused,
      ...(stopped ? [] : ['its sandbox was never stopped']),
      ...outOfOrder(containersOf(run.object), run),
      ...run.removedAlive,
    ].map(line => `${run.pod}: ${line}`);
  });
}

function isUp({object}: PodRun): boolean {
  const status = objectAt(object, 'status');
  const isReady = objectsAt(status, 'conditions').some(
    condition => textAt(condition, 'type') === 'Ready' && textAt(condition, 'status') === 'True',
  );
  return isReady || textAt(status, 'phase') === 'Succeeded';
}

/** What a reader has to know of a run before its verdicts. */
export function preamble(machine: MachineFacts): readonly string[] {
  return [...differenceLines(), ...restatements(machine).map(line => `restated for this machine: ${line}`)];
}

/** Each call with its time relative to the removal of the manifest, and how long it took. */
function callLines({pod, calls, removedAt}: PodRun): readonly string[] {
  return calls.map(call => {
    const container = containerOf(call);
    const what = container === null ? '' : ` ${container.name} attempt ${container.attempt}`;
    const timeout = call.timeout === undefined ? '' : ` within ${call.timeout} s`;
    const took = call.endedAt === null ? 'never ended' : `took ${seconds(call.endedAt - call.at)}`;
    const at = `${seconds(call.at - removedAt)} from the removal`;
    return `${pod} ${call.call}${what}${timeout}: ${at}, ${took}${call.failed ? ', was refused' : ''}`;
  });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** A manifest's differences below its name, and the calls behind them. */
export function verdictLines({manifest, hasGolden, differences, calls}: Verdict): readonly string[] {
  const title = hasGolden ? manifest : `${manifest} (no golden)`;
  if (differences.length === 0) return [`${title}: ${hasGolden ? 'as recorded' : 'came up, worked and ended'}`];
  return [`${title}:`, ...[...differences, 'calls:', ...calls.map(line => `    ${line}`)].map(line => `    ${line}`)];
}
