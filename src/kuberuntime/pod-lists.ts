// Asks the runtime what there is: all pods by two lists, one pod by the status of all that belongs to it.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go GetPods, GetPodStatus.
import {INSTANCE_LABEL, POD_UID_LABEL} from '../core/cri-config/label-names.js';
import {podStatusFromCri, type CriContainer} from '../core/runtime-status/from-cri.js';
import type {PodRef} from '../core/pod/types.js';
import {containerPart, sandboxPart, type ListedPart} from '../core/runtime-status/from-cri-lists.js';
import {
  criContainerId,
  type PodRuntimeStatus,
  type RuntimePod,
  type RuntimePodContainer,
  type RuntimePodSandbox,
} from '../core/runtime-status/types.js';
import type {Container, PodSandbox, PodSandboxFilter, PodSandboxStatus} from '../cri/gen/cri.js';
import {rememberContainers, rememberSandboxes, type ListMemory} from '../cri/list-memory.js';
import type {RuntimeService} from '../cri/runtime-service.js';
import {isNotFound} from './failures.js';
import {ListedPods} from './listed-pods.js';
import type {PodIds} from './pod-ids.js';
import type {RecentAnswers} from './recent-answers.js';
import {readTerminationMessage} from './termination-message.js';

/** What a list of all pods of this instance said the last time, and which pods that made. */
export interface LastList {
  readonly sandboxes: ListMemory<PodSandbox, ListedPart<RuntimePodSandbox> | null>;
  readonly containers: ListMemory<Container, ListedPart<RuntimePodContainer> | null>;
  readonly pods: ListedPods;
}

export function rememberLists(runtimeName: string): LastList {
  return {
    sandboxes: rememberSandboxes(sandboxPart),
    containers: rememberContainers(container => containerPart(runtimeName, container)),
    pods: new ListedPods(),
  };
}

export interface PodListDeps {
  readonly runtime: RuntimeService;
  readonly runtimeName: string;
  /** Value of the label minikubelet.dev/instance. */
  readonly instance: string;
  /** What is known well enough not to be asked for; default: nothing. */
  readonly recent?: RecentAnswers;
}

/** Rejects with CriError. `instance` = only what carries our label. */
export function listPods(
  deps: PodListDeps,
  scope: 'instance' | 'everyone',
  signal: AbortSignal,
): Promise<readonly RuntimePod[]> {
  return listBy(deps, scope === 'instance' ? {[INSTANCE_LABEL]: deps.instance} : null, signal);
}

/** All pods of this instance; those that are as they were are the objects of the last time. Rejects with CriError. */
export async function relistPods(
  {runtime, instance}: PodListDeps,
  last: LastList,
  signal: AbortSignal,
): Promise<readonly RuntimePod[]> {
  const filter = filterBy({[INSTANCE_LABEL]: instance});
  const [sandboxes, containers] = await Promise.all([
    runtime.relistPodSandbox(filter, last.sandboxes, signal),
    runtime.relistContainers({...filter, podSandboxId: ''}, last.containers, signal),
  ]);
  return last.pods.from(sandboxes, containers);
}

/**
 * The status of one pod of this instance. Ids come from `pod` where it has them, else from two list calls. What is gone by
 * the time it is asked about is left out. Rejects with CriError.
 */
export async function readPodStatus(
  deps: PodListDeps,
  pod: PodIds | PodRef,
  signal: AbortSignal,
): Promise<PodRuntimeStatus> {
  const listed = 'containers' in pod ? pod : await findPod(deps, pod.uid, signal);
  const {uid, name, namespace} = pod;
  const [sandboxes, containers] = await Promise.all([
    present((listed?.sandboxes ?? []).map(({id}) => sandboxStatus(deps, id, signal))),
    present((listed?.containers ?? []).map(container => containerStatus(deps, container, signal))),
  ]);
  return podStatusFromCri({pod: {uid, name, namespace}, runtimeName: deps.runtimeName, sandboxes, containers});
}

/** A pod of this instance as two filtered lists show it; undefined = there is nothing of it. */
async function findPod(deps: PodListDeps, uid: string, signal: AbortSignal): Promise<RuntimePod | undefined> {
  const pods = await listBy(deps, {[INSTANCE_LABEL]: deps.instance, [POD_UID_LABEL]: uid}, signal);
  return pods.find(pod => pod.uid === uid);
}

async function listBy(
  {runtime, runtimeName}: PodListDeps,
  labelSelector: Readonly<Record<string, string>> | null,
  signal: AbortSignal,
): Promise<readonly RuntimePod[]> {
  const filter = labelSelector === null ? undefined : filterBy(labelSelector);
  const [sandboxes, containers] = await Promise.all([
    runtime.listPodSandbox(filter, signal),
    runtime.listContainers(filter === undefined ? undefined : {...filter, podSandboxId: ''}, signal),
  ]);
  return new ListedPods().from(
    sandboxes.map(sandboxPart),
    containers.map(container => containerPart(runtimeName, container)),
  );
}

function filterBy(labelSelector: Readonly<Record<string, string>>): PodSandboxFilter {
  return {id: '', state: undefined, labelSelector: {...labelSelector}};
}

async function sandboxStatus(
  {runtime, recent}: PodListDeps,
  id: string,
  signal: AbortSignal,
): Promise<PodSandboxStatus | undefined> {
  return recent?.sandbox(id) ?? (await runtime.podSandboxStatus(id, signal)).status;
}

async function containerStatus(
  {runtime, recent}: PodListDeps,
  {id, sandboxId}: PodIds['containers'][number],
  signal: AbortSignal,
): Promise<CriContainer | undefined> {
  const criId = criContainerId(id);
  const known = recent?.exitedContainer(criId);
  if (known !== undefined) return known;
  const {status} = await runtime.containerStatus(criId, signal);
  if (status === undefined) return undefined;
  const container = {podSandboxId: sandboxId, status, message: readTerminationMessage(status)};
  recent?.noteContainer(container);
  return container;
}

/** The answers there are; one that is not found is none. */
async function present<T>(answers: readonly Promise<T | undefined>[]): Promise<readonly T[]> {
  const settled = await Promise.all(
    answers.map(answer =>
      answer.catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }),
    ),
  );
  return settled.filter(answer => answer !== undefined);
}
