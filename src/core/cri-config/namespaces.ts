// Which namespaces a pod shares with the host and its containers with each other.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/util/util.go NamespacesForPod.
import {NamespaceMode, type NamespaceOption, type UserNamespace} from '../../cri/gen/cri.js';
import type {Pod} from '../pod/types.js';

/** `targetId`: the container whose process namespace is joined, where containers have their own; '' = none. */
export function namespaceOptions(
  {spec}: Pod,
  userNamespace: UserNamespace | undefined,
  targetId: string,
): NamespaceOption {
  const pid = pidMode(spec);
  const joins = targetId !== '' && pid === NamespaceMode.CONTAINER;
  return {
    network: spec.hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: joins ? NamespaceMode.TARGET : pid,
    ipc: spec.hostIPC === true ? NamespaceMode.NODE : NamespaceMode.POD,
    targetId: joins ? targetId : '',
    usernsOptions: userNamespace,
  };
}

function pidMode({hostPID, shareProcessNamespace}: Pod['spec']): NamespaceMode {
  if (hostPID === true) return NamespaceMode.NODE;
  return shareProcessNamespace === true ? NamespaceMode.POD : NamespaceMode.CONTAINER;
}
