// The kubelet's own reason words, verbatim: what users grep for in statuses and events.
// Mirrors kubelet v1.36 pkg/kubelet/container/sync_result.go, pkg/kubelet/images/types.go,
// pkg/kubelet/events/event.go, pkg/kubelet/lifecycle and pkg/kubelet/status.

/** Reasons an error of a sync carries; they become a container's waiting reason. */
export const REASONS = [
  'CrashLoopBackOff',
  'ContainerNotFound',
  'RunContainerError',
  'KillContainerError',
  'CreatePodSandboxError',
  'ConfigPodSandboxError',
  'KillPodSandboxError',
  'RemoveContainerError',
  'RunInitContainerError',
  'CreateContainerConfigError',
  'CreateContainerError',
  'PreStartHookError',
  'PostStartHookError',
  'ImageInspectError',
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'RegistryUnavailable',
  'SignatureValidationFailed',
  'ImageVolumeMountFailed',
  'NetworkNotReady',
  'PodSandboxStatusError',
  'Unknown',
] as const;

export type Reason = (typeof REASONS)[number];

/** Reasons of recorded events. */
export const EVENT_REASONS = [
  'Created',
  'Started',
  'Failed',
  'Killing',
  'Preempting',
  'BackOff',
  'ExceededGracePeriod',
  'FailedKillPod',
  'FailedCreatePodContainer',
  'FailedMakePodDataDirectories',
  'NetworkNotReady',
  'Pulling',
  'Pulled',
  'InspectFailed',
  'ErrImageNeverPull',
  'SandboxChanged',
  'FailedCreatePodSandBox',
  'FailedPodSandBoxStatus',
  'FailedMount',
  'FailedMapVolume',
  'Unhealthy',
  'ProbeWarning',
  'FailedSync',
  'FailedValidation',
  'FailedPostStartHook',
  'FailedPreStopHook',
  'LifecycleHTTPFallback',
  'FailedPrepareDynamicResources',
  'DNSConfigForming',
  'CheckLimitsForResolvConf',
  'MissingClusterDNS',
  'HostPortConflict',
  'InvalidEnvironmentVariableNames',
  'DeadlineExceeded',
  'ContainerGCFailed',
  'ImageGCFailed',
  'FreeDiskSpaceFailed',
  'Starting',
  'ReadinessGatesNotReady',
  'FailedToRetrieveImagePullSecret',
] as const;

export type EventReason = (typeof EVENT_REASONS)[number];

/** Reasons a pod is not admitted for. */
export const ADMISSION_REASONS = [
  'SysctlForbidden',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'PodOSNotSupported',
  'SupplementalGroupsPolicyNotSupported',
  'NodeAffinity',
  'NodeName',
  'NodePorts',
] as const;

/** `OutOfcpu`, `OutOfmemory`, `OutOfpods`, ...: the node has not enough of a resource. */
export type AdmissionReason = (typeof ADMISSION_REASONS)[number] | `OutOf${string}`;
