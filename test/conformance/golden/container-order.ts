// The only order between different containers that counts: init containers start before regular ones and in the order of the
// spec, regular ones in the order of the spec, sidecars stop after regular containers and in reverse.
import {containerOf, type PodContainer} from './containers.js';
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

function stopsOutOfOrder(containers: readonly PodContainer[], {calls, removedAt}: PodRun): readonly string[] {
  const sidecars = containers.filter(({kind}) => kind === 'sidecar');
  const stopsOf = (name: string): readonly TracedCall[] =>
    calls.filter(call => call.call === 'StopContainer' && call.at >= removedAt && containerOf(call)?.name === name);
  return sidecars.flatMap((sidecar, index) => {
    const first = stopsOf(sidecar.name)[0];
    if (first === undefined) return [];
    const earlier = [...containers.filter(({kind}) => kind === 'regular'), ...sidecars.slice(index + 1)];
    const late = earlier.filter(({name}) =>
      stopsOf(name).some(stop => stop.endedAt === null || stop.endedAt > first.at),
    );
    return late.map(({name}) => `sidecar ${sidecar.name} was stopped before ${name} had stopped`);
  });
}
