// How long a CRI call may take. The kubelet's numbers, in one table that the gRPC client and the fake runtime share.
// Mirrors kubelet v1.36 cri-client pkg/remote_runtime.go and the default of --runtime-request-timeout.

/** The kubelet's --runtime-request-timeout. */
const REQUEST_TIMEOUT_MS = 120_000;

/** The deadline of a call in ms from its start; null = only a signal ends it. `seconds` is the request's own timeout. */
export function deadlineMs(rpc: string, seconds = 0): number | null {
  switch (rpc) {
    case 'PullImage':
    case 'GetContainerEvents':
      return null;
    case 'RunPodSandbox':
      return 2 * REQUEST_TIMEOUT_MS;
    case 'StopContainer':
      return seconds * 1000 + REQUEST_TIMEOUT_MS;
    case 'ExecSync':
      return seconds > 0 ? seconds * 1000 + REQUEST_TIMEOUT_MS : null;
    default:
      return REQUEST_TIMEOUT_MS;
  }
}
