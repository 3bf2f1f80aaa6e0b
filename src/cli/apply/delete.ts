// `delete`: which pods a mix of names, paths and labels means, and their graceful end.
import {existsSync} from 'node:fs';
import {resolve, sep} from 'node:path';
import {SOURCE_ANNOTATION} from '../../core/cri-config/label-names.js';
import {UsageError} from '../../core/errors.js';
import {instanceOf} from '../../core/instance.js';
import {podKey, type PodRef} from '../../core/pod/types.js';
import type {RuntimePod} from '../../core/runtime-status/types.js';
import type {ManifestSet} from '../../manifest/types.js';
import type {AgentSessionOptions} from '../agent-session.js';
import {isLocalPath, loadManifests} from '../manifests/manifests.js';
import {renderProblem} from '../manifests/render-problem.js';
import type {OutputFormat} from '../output/output.js';
import {parseLabelSelector, type LabelMatcher} from '../pods/label-selector.js';
import {isManifestPath, mustFindPod} from '../pods/select-pods.js';
import type {Session} from '../session.js';
import {runAgent} from './apply.js';

export interface DeleteTargets {
  /** Names of pods, with or without the node's name. */
  readonly names: readonly string[];
  /** What the manifests define. */
  readonly manifests: Pick<ManifestSet, 'pods' | 'problems'>;
  /** Absolute files and directories: what came from them is meant, too. */
  readonly paths: readonly string[];
  readonly matches: LabelMatcher | null;
  readonly all: boolean;
  readonly namespace: string | undefined;
  readonly nodeName: string;
  readonly ignoreNotFound: boolean;
}

export interface DeleteWords {
  readonly words: readonly string[];
  readonly filenames: readonly string[];
  readonly selector: string | undefined;
  readonly all: boolean;
  readonly namespace: string | undefined;
  readonly nodeName: string;
  readonly ignoreNotFound: boolean;
}

/** Reads the manifests that are named. A broken one keeps nothing else, and what came from its file is still meant. */
export async function deleteTargets(session: Session, given: DeleteWords): Promise<DeleteTargets> {
  const {words, filenames, selector, all} = given;
  if (words.length + filenames.length === 0 && selector === undefined && !all) {
    throw new UsageError('nothing is named', {hint: 'give pods, manifests, labels with -l, or --all'});
  }
  const isPath = (word: string): boolean => isManifestPath(word, existsSync(word));
  const paths = [...words.filter(isPath), ...filenames];
  const {nodeName, namespace} = given;
  const request = {paths, nodeName, namespace, validate: 'ignore' as const, requireReferences: false};
  const manifests = paths.length === 0 ? {pods: [], problems: []} : await loadManifests(session, request);
  session.err(...manifests.problems.map(renderProblem));
  return {
    ...given,
    names: words.filter(word => !isPath(word)),
    manifests,
    paths: paths.filter(isLocalPath).map(path => resolve(path)),
    matches: selector === undefined ? null : parseLabelSelector(selector),
  };
}

/** The pods to end, by namespace and name; `present` is all there is of this instance. Throws UsageError for unknown names. */
export function podsToDelete(targets: DeleteTargets, present: readonly RuntimePod[]): readonly PodRef[] {
  const {names, manifests, namespace, nodeName, ignoreNotFound} = targets;
  const inNamespace = (pod: PodRef): boolean => namespace === undefined || pod.namespace === namespace;
  const known = [...new Map(present.map(pod => [podKey(pod), pod])).values()];
  const named = names.flatMap(name => {
    try {
      return [mustFindPod(known, {name, namespace, nodeName})];
    } catch (error) {
      if (ignoreNotFound && error instanceof UsageError) return [];
      throw error;
    }
  });
  const defined = manifests.pods.map(({pod}) => pod.metadata).filter(inNamespace);
  const selected = present.filter(pod => inNamespace(pod) && (targets.all || isSelected(pod, targets)));
  const meant = [...named, ...defined, ...selected].map(pod => ({uid: '', name: pod.name, namespace: pod.namespace}));
  return [...new Map(meant.map(pod => [podKey(pod), pod])).values()];
}

function isSelected(pod: RuntimePod, {paths, matches}: DeleteTargets): boolean {
  const newest = pod.sandboxes.toSorted((left, right) => Number(right.createdAtNs - left.createdAtNs))[0];
  const source = newest?.annotations[SOURCE_ANNOTATION] ?? '';
  if (matches !== null && matches(newest?.labels)) return true;
  return paths.some(path => source === path || source.startsWith(path + sep));
}

export interface DeleteOptions extends Omit<AgentSessionOptions, 'embedded'> {
  readonly targets: DeleteTargets;
  /** Seconds; null = each pod's own. */
  readonly gracePeriodSeconds: number | null;
  readonly timeoutMs: number;
  readonly format: OutputFormat;
}

/** Sets the exit code: 0 when everything that was meant is gone, and no manifest was broken that may mean more. */
export async function deletePods(session: Session, options: DeleteOptions): Promise<void> {
  const {targets, gracePeriodSeconds, timeoutMs, format} = options;
  const {deleteOnce} = await import('../../agent/delete-once.js');
  const {listPods} = await import('../../kuberuntime/pod-lists.js');
  await runAgent(
    session,
    {...options, embedded: 'use'},
    async deps => {
      const {runtime, runtimeName, config} = deps;
      const lists = {runtime, runtimeName, instance: instanceOf(config.rootDir)};
      const pods = podsToDelete(targets, await listPods(lists, 'instance', session.signal));
      const report = await deleteOnce(deps, {pods, gracePeriodSeconds, timeoutMs}, session.signal);
      return {...report, problems: targets.manifests.problems};
    },
    format,
  );
}
