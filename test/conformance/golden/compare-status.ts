// Compares the status that a kubelet published with ours.
import {difference} from '../family.js';
import {containerStatusesOf} from './containers.js';
import {leftOut} from './differences.js';
import {numberAt, objectAt, objectsAt, textAt, without} from './json.js';
import {bind, type Meanings} from './placeholders.js';
import type {Json, JsonObject} from './types.js';

const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;

export interface StatusCompare {
  readonly want: JsonObject;
  readonly got: JsonObject;
  readonly meanings: Meanings;
  readonly isHostNetwork: boolean;
  /** Names of containers in a crash loop. */
  readonly looping: ReadonlySet<string>;
}

/** What differs, a line each. */
export function compareStatus({want, got, meanings, isHostNetwork, looping}: StatusCompare): readonly string[] {
  const shown = (status: JsonObject): JsonObject => comparable(status, isHostNetwork, looping);
  const compared = shown(got);
  const found = difference(bind(shown(want), compared, meanings), compared, Infinity);
  return [...lines(found), ...loopDifferences(want, got, looping)];
}

/** The part of a status that is compared. */
function comparable(status: JsonObject, isHostNetwork: boolean, looping: ReadonlySet<string>): JsonObject {
  const lists = STATUS_LISTS.filter(list => list in status).map(list => {
    const containers = objectsAt(status, list).map(container =>
      comparableContainer(container, isHostNetwork, looping.has(textAt(container, 'name'))),
    );
    return [list, containers] as const;
  });
  const kept = without(status, ...leftOut('status', isHostNetwork));
  return {
    ...kept,
    ...Object.fromEntries(lists),
    ...('conditions' in status && {conditions: conditions(status, looping)}),
  };
}

function comparableContainer(container: JsonObject, isHostNetwork: boolean, isLooping: boolean): JsonObject {
  const ofLoop = isLooping ? ['restartCount', 'state', 'lastState', 'started', 'ready'] : [];
  return without(container, ...leftOut('container status', isHostNetwork), ...ofLoop);
}

/** Of a pod with a crash loop the conditions that follow from its containers only keep their type. */
function conditions(status: JsonObject, looping: ReadonlySet<string>): readonly Json[] {
  const initLoops = objectsAt(status, 'initContainerStatuses').some(one => looping.has(textAt(one, 'name')));
  const following = [...(looping.size > 0 ? ['Ready', 'ContainersReady'] : []), ...(initLoops ? ['Initialized'] : [])];
  return objectsAt(status, 'conditions').map(condition =>
    following.includes(textAt(condition, 'type')) ? {type: textAt(condition, 'type')} : condition,
  );
}

/** How a container in a crash loop ends each time is no chance. */
function loopDifferences(want: JsonObject, got: JsonObject, looping: ReadonlySet<string>): readonly string[] {
  const ends = (status: JsonObject, name: string): string => lastEnd(containerNamed(status, name));
  return [...looping].flatMap(name => {
    const [wanted, seen] = [ends(want, name), ends(got, name)];
    return wanted === seen ? [] : [`${name}, in a crash loop, last ended: want ${wanted}, got ${seen}`];
  });
}

function containerNamed(status: JsonObject, name: string): JsonObject {
  return containerStatusesOf(status).find(container => textAt(container, 'name') === name) ?? {};
}

function lastEnd(container: JsonObject): string {
  const now = objectAt(container, 'state', 'terminated');
  const end = 'exitCode' in now ? now : objectAt(container, 'lastState', 'terminated');
  return 'exitCode' in end ? `${textAt(end, 'reason')} with exit code ${numberAt(end, 'exitCode')}` : 'never';
}

function lines(found: string | null): readonly string[] {
  return found === null ? [] : found.split('\n');
}
