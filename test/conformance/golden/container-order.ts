// The only order between different containers that counts: init containers start before regular ones and in the order of the
// spec, regular ones in the order of the spec, sidecars stop after regular containers and in reverse.
import type {PodContainer} from './containers.js';
import type {PodRun, TracedCall} from './types.js';

/** What is out of order, a line each. */
export function outOfOrder(containers: readonly PodContainer[], run: PodRun): readonly string[] {
  return [...startsOutOfOrder(containers, run.calls), ...stopsOutOfOrder(containers, run)];
}

/** Containers come in the order in which they have to start. */
function startsOutOfOrder(containers: readonly PodContainer[], calls: readonly TracedCall[]): readonly string[] {
  const started = containers.flatMap(({name}) => {
    const first = calls.find(call => call.call === 'StartContainer' && call.container === name);
    return first === undefined ? [] : [{name, at: calls.indexOf(first)}];
  });
  return started.flatMap(({name, at}, index) => {
    const before = started[index - 1];
    return before === undefined || before.at < at ? [] : [`${name} was started before ${before.name}`];
  });
}

/** A sidecar whose grace period is used up by waiting does not wait any longer. */
function stopsOutOfOrder(containers: readonly PodContainer[], {calls, removedAt}: PodRun): readonly string[] {
  const sidecars = containers.filter(({kind}) => kind === 'sidecar');
  const stopsOf = (name: string): readonly TracedCall[] =>
    calls.filter(call => call.call === 'StopContainer' && call.at >= removedAt && call.container === name);
  return sidecars.flatMap(({name, graces}, index) => {
    const first = stopsOf(name)[0];
    if (first === undefined) return [];
    const hasWaited = first.at - removedAt >= (graces[0] ?? 0) * 1000;
    const isLate = ({at, endedAt}: TracedCall): boolean =>
      at > first.at || (!hasWaited && (endedAt === null || endedAt > first.at));
    const earlier = [...containers.filter(({kind}) => kind === 'regular'), ...sidecars.slice(index + 1)];
    const late = earlier.filter(other => stopsOf(other.name).some(isLate));
    return late.map(other => `sidecar ${name} was stopped before ${other.name} had stopped`);
  });
}
