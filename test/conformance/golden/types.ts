// What a golden run is about: recorded traces of a kubelet, and what was seen of ours.

/** Plain JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Names of the calls that a trace holds. */
export type CallName =
  | 'RunPodSandbox'
  | 'StopPodSandbox'
  | 'RemovePodSandbox'
  | 'CreateContainer'
  | 'StartContainer'
  | 'ExecSync'
  | 'StopContainer'
  | 'RemoveContainer';

/** A call about a pod, in the form of the recorded ones. */
export interface GoldenCall {
  readonly call: CallName;
  /** Of RunPodSandbox and CreateContainer: the config in snake_case, defaults left out. */
  readonly config?: JsonObject;
  /** Of the other calls about a container. */
  readonly container?: string;
  /** Of the container, or of the sandbox. */
  readonly attempt?: number;
  /** Of ExecSync. */
  readonly cmd?: readonly string[];
  /** Of ExecSync and StopContainer: seconds, as text. */
  readonly timeout?: string;
}

/** One recorded file. */
export interface Golden {
  /** File name within the corpus. */
  readonly manifest: string;
  /** namespace/name. */
  readonly pod: string;
  readonly calls: readonly GoldenCall[];
  /** The published status while the pod was up. */
  readonly statusWhileUp: JsonObject;
}

/** One of our calls: with its times (ms of one clock), and whether the runtime refused it. */
export interface TracedCall extends GoldenCall {
  readonly at: number;
  /** null = it never ended. */
  readonly endedAt: number | null;
  readonly failed: boolean;
}

/** What was seen of one pod of ours. */
export interface PodRun {
  /** namespace/name. */
  readonly pod: string;
  readonly uid: string;
  /** The address that the runtime gave its sandbox; '' = none of its own. */
  readonly podIP: string;
  /** As `get pods -o json` shows it while it is up, with spec and status. */
  readonly object: JsonObject;
  readonly calls: readonly TracedCall[];
  /** When its manifest was removed, ms of the calls' clock. */
  readonly removedAt: number;
  /** What was removed in the runtime before it had stopped, in words. */
  readonly removedAlive: readonly string[];
}

/** Directories and addresses of a run, for which recorded traces have placeholders. */
export interface RunPlaces {
  readonly rootDir: string;
  readonly logsDir: string;
  /** The one name server of the run's resolv.conf. */
  readonly resolver: string;
}

/** Facts of a machine that show in requests. */
export interface MachineFacts {
  readonly memoryBytes: number;
  /** Page sizes as requests name them, e.g. 2MB. */
  readonly hugepageSizes: readonly string[];
  /** Paths like /sys/devices/system/cpu/cpu0/thermal_throttle that are there. */
  readonly thermalThrottlePaths: readonly string[];
}
