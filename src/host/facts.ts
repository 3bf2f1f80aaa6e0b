// Facts of a host and its runtime, as plain data: gathered in gather-facts.ts, judged in doctor/, stated by tests.

/** An answer of the runtime, or why there is none. */
export type RuntimeAnswer =
  | {
      readonly answers: true;
      /** e.g. "containerd 1.6.20". */
      readonly runtime: string;
      /** CRI version, e.g. "v1". */
      readonly apiVersion: string;
      /** RuntimeReady and NetworkReady. */
      readonly conditions: readonly RuntimeCondition[];
      /** What the runtime tells of its own configuration; null = it tells nothing that is known here. */
      readonly config: RuntimeConfigFacts | null;
    }
  | {readonly answers: false; readonly message: string; readonly hint: string};

interface RuntimeCondition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface RuntimeConfigFacts {
  readonly cniConfDir: string;
  readonly cniBinDirs: readonly string[];
  /** The image that holds a pod's namespaces; '' = not told. */
  readonly sandboxImage: string;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  /** Whether it leaves oom_score_adj alone where it may not lower it. */
  readonly restrictOOMScoreAdj: boolean;
}

export interface CniFacts {
  /** Network configuration files, in the order the runtime takes them: the first counts. */
  readonly configFiles: readonly string[];
  /** Plugins that the first one calls, IPAM included. */
  readonly plugins: readonly string[];
  /** Those of them, and loopback, that are in none of the runtime's directories. */
  readonly missingPlugins: readonly string[];
}

export interface DiskFacts {
  readonly path: string;
  /** What is written there, for people: "volumes and state, logs". */
  readonly purpose: string;
  readonly totalBytes: number;
  /** Free for everybody, not only for root. */
  readonly freeBytes: number;
}

/** A kubelet that runs on this machine. */
export interface KubeletProcess {
  readonly pid: number;
  readonly command: string;
  /** Socket of the runtime it drives. */
  readonly socket: string;
  /** It is the very socket that we use, seen through the kubelet's own root. */
  readonly sameRuntime: boolean;
}

/** Facts that could not be had are null. */
export interface HostFacts {
  readonly endpoint: string;
  /** Where the endpoint was configured. */
  readonly configuredBy: string;
  readonly isRoot: boolean;
  /** It is the embedded runtime of this root directory. */
  readonly embedded: boolean;
  readonly runtime: RuntimeAnswer;
  readonly cni: CniFacts | null;
  /** Whether the daemon may lower oom_score_adj. */
  readonly daemonCanLowerOOMScore: boolean | null;
  /** Whether what is mounted below the root directory appears in the daemon's mounts; a text = why it was not tried. */
  readonly mountsReachDaemon: boolean | string;
  readonly cgroups: {
    readonly version: 1 | 2 | null;
    readonly hybrid: boolean;
    /** Why pods get no cgroups; null = they do. */
    readonly limitation: string | null;
    /** Controllers that this host has. */
    readonly controllers: readonly string[];
    /** systemd is the init system here. */
    readonly systemd: boolean;
  };
  /** Whether the sandbox image is there. */
  readonly hasSandboxImage: boolean | null;
  readonly disks: readonly DiskFacts[];
  readonly kubelets: readonly KubeletProcess[];
}
