// What containerd tells of its configuration in the verbose Status answer. Pure. Other runtimes tell nothing of it.
import type {RuntimeConfigFacts} from './facts.js';

/** The parts of containerd's CRI configuration, 1.6 to 2.x, that are read here. */
interface ContainerdConfig {
  readonly cni?: {readonly binDir?: string; readonly binDirs?: readonly string[]; readonly confDir?: string};
  readonly sandboxImage?: string;
  readonly restrictOOMScoreAdj?: boolean;
  readonly systemdCgroup?: boolean;
  readonly containerd?: {
    readonly defaultRuntimeName?: string;
    readonly runtimes?: Readonly<Record<string, {readonly options?: {readonly SystemdCgroup?: boolean} | null}>>;
  };
}

/** null = there is no such text, or it is something else. */
export function runtimeConfig(info: Readonly<Record<string, string>>): RuntimeConfigFacts | null {
  const text = info['config'];
  if (text === undefined) return null;
  let config: ContainerdConfig;
  try {
    config = JSON.parse(text) as ContainerdConfig;
  } catch {
    return null;
  }
  const {cni, containerd} = config;
  if (cni?.confDir === undefined) return null;
  const options = containerd?.runtimes?.[containerd.defaultRuntimeName ?? 'runc']?.options;
  const systemd = options?.SystemdCgroup === true || config.systemdCgroup === true;
  return {
    cniConfDir: cni.confDir,
    cniBinDirs: cni.binDirs ?? (cni.binDir === undefined ? [] : [cni.binDir]),
    sandboxImage: config.sandboxImage ?? '',
    cgroupDriver: systemd ? 'systemd' : 'cgroupfs',
    restrictOOMScoreAdj: config.restrictOOMScoreAdj === true,
  };
}
