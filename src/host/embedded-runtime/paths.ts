// Where the embedded runtime keeps everything: below <root-dir>/runtime, named after the root directory where a name is
// shared with the whole machine (bridge, CNI network).
import {createHash} from 'node:crypto';
import {join} from 'node:path';

export interface RuntimePaths {
  readonly rootDir: string;
  /** <root-dir>/pods: bind-mounted on itself and shared with the daemon's mount namespace. */
  readonly podsDir: string;
  readonly dir: string;
  /** Serialises start and stop. */
  readonly lock: string;
  readonly socket: string;
  readonly config: string;
  readonly log: string;
  /** Identity of the daemon's process. */
  readonly pidFile: string;
  /** What of the machine was missing before the first start, to be removed again by stop. */
  readonly before: string;
  /** containerd's persistent data: images and snapshots. Survives stop. */
  readonly dataDir: string;
  /** containerd's and runc's volatile data. */
  readonly stateDir: string;
  readonly runcDir: string;
  readonly cniConfDir: string;
  readonly cniConfig: string;
  readonly ipamDir: string;
  /** Name of the CNI network; appears in iptables comments and in CNI's result cache. */
  readonly network: string;
  /** At most 15 characters. */
  readonly bridge: string;
}

/** Paths and names for an absolute root directory. */
export function runtimePaths(rootDir: string): RuntimePaths {
  const dir = join(rootDir, 'runtime');
  const id = createHash('sha256').update(rootDir).digest('hex').slice(0, 8);
  const stateDir = join(dir, 'state');
  return {
    rootDir,
    podsDir: join(rootDir, 'pods'),
    dir,
    lock: join(dir, 'lock'),
    socket: join(dir, 'containerd.sock'),
    config: join(dir, 'config.toml'),
    log: join(dir, 'containerd.log'),
    pidFile: join(dir, 'containerd.pid'),
    before: join(dir, 'before.json'),
    dataDir: join(dir, 'data'),
    stateDir,
    runcDir: join(stateDir, 'runc'),
    cniConfDir: join(dir, 'cni'),
    cniConfig: join(dir, 'cni', '10-minikubelet.conflist'),
    ipamDir: join(dir, 'ipam'),
    network: `minikubelet-${id}`,
    bridge: `mkb-${id}`,
  };
}

/** Endpoint of the embedded runtime of a root directory, whether it runs or not. */
export function embeddedEndpoint(rootDir: string): string {
  return `unix://${runtimePaths(rootDir).socket}`;
}
