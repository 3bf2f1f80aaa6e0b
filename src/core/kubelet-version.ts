// The kubelet whose behaviour is mirrored, as it names itself to the servers of probes and hooks.

/** major.minor */
export const KUBELET_VERSION = '1.36';
