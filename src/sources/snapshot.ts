// What every source does with what it has read: pods of a place that has an error stay as they were, and each pod is marked
// with the source it came from.
// Differs from kubelet: a manifest that no longer parses does not remove its running pod (docs/parity.md).
import type {ManifestProblem} from '../core/errors.js';
import {markSource} from '../core/pod/static-pod.js';
import {podKey} from '../core/pod/types.js';
import type {Companions, SourcedPod, SourceSnapshot} from '../core/source-mux.js';
import type {LoadedManifest, ManifestFile, ManifestSet} from '../manifest/types.js';

/** Turns texts into pods: readManifestTexts with the agent's options. */
export type Interpret = (files: readonly ManifestFile[]) => ManifestSet;

export interface Reading {
  /** The kubelet's word for the source. */
  readonly source: string;
  /** Everything there is now, in the order that decides between two definitions of one pod. */
  readonly loaded: readonly LoadedManifest[];
  /** What the source delivered before; undefined when it has not. */
  readonly last: SourceSnapshot | undefined;
  /** ms since the epoch. */
  readonly now: number;
}

/** Pods of places that cannot be read or understood come from `last`; what a source no longer has is gone. */
export function snapshotOf({source, loaded, last, now}: Reading, interpret: Interpret): SourceSnapshot {
  const readable = loaded.flatMap(entry => ('bytes' in entry ? [entry] : []));
  const unreadable = loaded.flatMap(entry => ('problem' in entry ? [entry] : []));
  const set = interpret(readable);
  const broken = new Set([...set.brokenFiles, ...unreadable.map(({file}) => file)]);
  const kept = (last?.pods ?? []).filter(({position}) => broken.has(position.file));
  const fresh = set.pods.map(entry => ({...entry, pod: markSource(entry.pod, source, now)}));
  const order = new Map(loaded.map(({file}, index) => [file, index]));
  return {
    source,
    pods: firstOfName([...kept, ...fresh], ({position}) => order.get(position.file) ?? 0),
    companions: broken.size === 0 ? set.companions : withKept(set.companions, last?.companions),
    problems: [...unreadable.map(cannotBeRead), ...set.problems],
  };
}

function cannotBeRead({file, problem}: {readonly file: string; readonly problem: string}): ManifestProblem {
  return {type: 'Syntax', path: '', detail: problem, severity: 'error', position: {file}};
}

/** Sorted by `rank`, of two with one name the first. */
function firstOfName(pods: readonly SourcedPod[], rank: (pod: SourcedPod) => number): readonly SourcedPod[] {
  const first = new Map<string, SourcedPod>();
  for (const entry of [...pods].sort((a, b) => rank(a) - rank(b))) {
    const name = podKey(entry.pod.metadata);
    if (!first.has(name)) first.set(name, entry);
  }
  return [...first.values()];
}

/** A broken place may have held them: until it is mended, pods that use them keep them. */
function withKept(now: Companions, before: Companions | undefined): Companions {
  if (before === undefined) return now;
  return {
    configMaps: union(now.configMaps, before.configMaps),
    secrets: union(now.secrets, before.secrets),
    runtimeClasses: union(now.runtimeClasses, before.runtimeClasses),
  };
}

interface Named {
  readonly metadata?: {readonly name?: string; readonly namespace?: string};
}

function union<T extends Named>(now: readonly T[], before: readonly T[]): readonly T[] {
  const nameOf = ({metadata}: T): string => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
  const names = new Set(now.map(nameOf));
  return [...now, ...before.filter(object => !names.has(nameOf(object)))];
}
