// What the kubelet (and minikubelet) writes on runtime containers to find it again, read back.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/labels.go getContainerInfoFromLabels, getContainerInfoFromAnnotations.
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
    podName: labels['io.kubernetes.pod.name'] ?? '',
    podNamespace: labels['io.kubernetes.pod.namespace'] ?? '',
    podUid: labels['io.kubernetes.pod.uid'] ?? '',
    containerName: labels['io.kubernetes.container.name'] ?? '',
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
    hash: hashFromAnnotation(annotations['io.kubernetes.container.hash']),
    restartCount: countFromAnnotation(annotations['io.kubernetes.container.restartCount']),
    terminationMessagePath: annotations['io.kubernetes.container.terminationMessagePath'] ?? '',
    terminationMessagePolicy: annotations['io.kubernetes.container.terminationMessagePolicy'] ?? '',
  };
}

function countFromAnnotation(text: string | undefined): number {
  const count = text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(count) ? count : 0;
}
