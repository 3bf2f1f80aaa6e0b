// Names of the labels and annotations that the kubelet, and minikubelet beside it, write on sandboxes and containers.
// Mirrors kubelet v1.36 staging/src/k8s.io/kubelet/pkg/types/labels.go and pkg/kubelet/kuberuntime/labels.go.

export const POD_NAME_LABEL = 'io.kubernetes.pod.name';
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
export const POD_UID_LABEL = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';

export const CONTAINER_HASH = 'io.kubernetes.container.hash';
export const RESTART_COUNT = 'io.kubernetes.container.restartCount';
export const TERMINATION_MESSAGE_PATH = 'io.kubernetes.container.terminationMessagePath';
export const TERMINATION_MESSAGE_POLICY = 'io.kubernetes.container.terminationMessagePolicy';
export const POD_DELETION_GRACE_PERIOD = 'io.kubernetes.pod.deletionGracePeriod';
export const POD_TERMINATION_GRACE_PERIOD = 'io.kubernetes.pod.terminationGracePeriod';
export const PRE_STOP_HANDLER = 'io.kubernetes.container.preStopHandler';
export const CONTAINER_PORTS = 'io.kubernetes.container.ports';

/** Label: which minikubelet this belongs to. Only what carries its own value is ever stopped or removed. */
export const INSTANCE_LABEL = 'minikubelet.dev/instance';
/** Sandbox annotation: the whole pod as JSON, as it was when the sandbox was made. */
export const POD_ANNOTATION = 'minikubelet.dev/pod';
/** Sandbox annotation: where the pod came from, an absolute file path or a URL. */
export const SOURCE_ANNOTATION = 'minikubelet.dev/source';
