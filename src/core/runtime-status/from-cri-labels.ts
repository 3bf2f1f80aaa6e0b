// What the kubelet (and minikubelet) writes on runtime containers to find it again, read back.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/labels.go getContainerInfoFromLabels, getContainerInfoFromAnnotations.
import * as names from '../cri-config/label-names.js';
import {hashFromAnnotation} from '../pod/container-hash.js';

type Texts = Readonly<Record<string, string>>;

export interface ContainerLabels {
  readonly podName: string;
  readonly podNamespace: string;
  readonly podUid: string;
  readonly containerName: string;
}

/** '' for a label that is missing. */
export function containerLabels(labels: Texts): ContainerLabels {
  return {
    podName: labels[names.POD_NAME_LABEL] ?? '',
    podNamespace: labels[names.POD_NAMESPACE_LABEL] ?? '',
    podUid: labels[names.POD_UID_LABEL] ?? '',
    containerName: labels[names.CONTAINER_NAME_LABEL] ?? '',
  };
}

export interface ContainerAnnotations {
  /** Decimal text; "0" when missing or damaged. */
  readonly hash: string;
  /** 0 when missing or damaged. */
  readonly restartCount: number;
  readonly terminationMessagePath: string;
  readonly terminationMessagePolicy: string;
}

export function containerAnnotations(annotations: Texts): ContainerAnnotations {
  return {
    hash: hashFromAnnotation(annotations[names.CONTAINER_HASH]),
    restartCount: countFromAnnotation(annotations[names.RESTART_COUNT]),
    terminationMessagePath: annotations[names.TERMINATION_MESSAGE_PATH] ?? '',
    terminationMessagePolicy: annotations[names.TERMINATION_MESSAGE_POLICY] ?? '',
  };
}

function countFromAnnotation(text: string | undefined): number {
  const count = text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(count) ? count : 0;
}
