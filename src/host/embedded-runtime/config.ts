// The files the embedded runtime is started with, from facts of the host. Pure.
// containerd's keys: https://github.com/containerd/containerd/blob/release/1.6/docs/cri/config.md; version 2 is what
// containerd 1.6 and 1.7 write and 2.x migrates by itself.
import type {RuntimePaths} from './paths.js';

export interface RuntimeConfigFacts {
  /** Directory that holds the CNI plugins. */
  readonly cniBinDir: string;
  readonly runcPath: string;
  /** Without CAP_SYS_RESOURCE the kernel refuses to lower oom_score_adj, and so every pod. */
  readonly canLowerOOMScore: boolean;
  readonly snapshotter: 'overlayfs' | 'native';
  readonly sandboxImage: string;
}

/** Plugins that probe devices or reach out of the root directory, and are of no use to CRI. */
const DISABLED_PLUGINS = [
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.snapshotter.v1.blockfile',
  'io.containerd.internal.v1.opt',
  'io.containerd.nri.v1.nri',
];

/** Text of config.toml. */
export function containerdConfig(paths: RuntimePaths, facts: RuntimeConfigFacts): string {
  const text = (value: string): string => JSON.stringify(value);
  return `# Written by minikubelet at each start of the embedded runtime; edits are lost.
version = 2
root = ${text(paths.dataDir)}
state = ${text(paths.stateDir)}
disabled_plugins = [${DISABLED_PLUGINS.map(text).join(', ')}]

[grpc]
  address = ${text(paths.socket)}

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(facts.sandboxImage)}
  restrict_oom_score_adj = ${!facts.canLowerOOMScore}
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${text(facts.cniBinDir)}
    conf_dir = ${text(paths.cniConfDir)}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = ${text(facts.snapshotter)}
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = ${text(facts.runcPath)}
        Root = ${text(paths.runcDir)}
        SystemdCgroup = false
`;
}

export interface NetworkFacts {
  readonly subnet: string;
  /** Masquerading and host ports need it. */
  readonly hasIptables: boolean;
  readonly hasPortmap: boolean;
}

/** Text of the CNI network configuration list. */
export function cniConfig(paths: RuntimePaths, facts: NetworkFacts): string {
  const bridge = {
    type: 'bridge',
    bridge: paths.bridge,
    isGateway: true,
    ipMasq: facts.hasIptables,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      dataDir: paths.ipamDir,
      ranges: [[{subnet: facts.subnet}]],
      routes: [{dst: '0.0.0.0/0'}],
    },
  };
  const portmap = {type: 'portmap', capabilities: {portMappings: true}, snat: true};
  const plugins = [bridge, ...(facts.hasIptables && facts.hasPortmap ? [portmap] : [])];
  return `${JSON.stringify({cniVersion: '0.4.0', name: paths.network, plugins}, null, 2)}\n`;
}
