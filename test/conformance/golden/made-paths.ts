// Pods may ask for directories and files of the host to be made. Those that a run has made go with it.
import {rm, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {objectAt, objectsAt, textAt} from './json.js';
import type {JsonObject} from './types.js';

/** Removes what the hostPath volumes of `pods` had made since `startedAt` (ms), with the parents that came with it. */
export async function removeMadePaths(pods: readonly JsonObject[], startedAt: number): Promise<void> {
  const volumes = pods.flatMap(pod => objectsAt(objectAt(pod, 'spec'), 'volumes'));
  const onDemand = volumes
    .map(volume => objectAt(volume, 'hostPath'))
    .filter(one => /OrCreate$/.test(textAt(one, 'type')));
  for (const path of onDemand.map(one => textAt(one, 'path'))) {
    const made = await topmostMade(path, startedAt);
    if (made !== null) await rm(made, {recursive: true, force: true});
  }
}

async function topmostMade(path: string, startedAt: number): Promise<string | null> {
  let made: string | null = null;
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const found = await stat(at).catch(() => null);
    if (found === null) continue;
    if (found.birthtimeMs < startedAt) break;
    made = at;
  }
  return made;
}
