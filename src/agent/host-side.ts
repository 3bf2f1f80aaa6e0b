// What the agent needs of this machine before it can start: read and made once.
import {readFile} from 'node:fs/promises';
import {parseDockerConfig, type Keyring} from '../core/images/keyring.js';
import type {CgroupDriver, CgroupName} from '../core/cri-config/pod-cgroup.js';
import type {NodeFacts} from '../core/cri-config/types.js';
import {CriError} from '../core/errors.js';
import type {Quantity} from '../core/pod/types.js';
import type {StatusResponse} from '../cri/gen/cri.js';
import type {RuntimeService} from '../cri/runtime-service.js';
import {createCgroupManager} from '../host/cgroups/create.js';
import type {CgroupManager} from '../host/cgroups/types.js';
import {readMachine, type Machine} from '../host/node.js';
import {instanceDirs, type InstanceDirs} from '../host/pod-dirs.js';
import type {VolumeManager} from '../host/volumes/types.js';
import {createVolumeManager} from '../host/volumes/volume-manager.js';
import type {Logger} from '../lib/logger.js';
import type {AgentDeps} from './agent.js';
import {cgroupDriverOf} from './cgroup-driver.js';
import {allocatable, allocatablePids, nodeFacts} from './node.js';

export interface HostSide {
  readonly machine: Machine;
  readonly facts: NodeFacts;
  readonly allocatable: Readonly<Record<string, Quantity>>;
  readonly allocatablePids: bigint | null;
  readonly dirs: InstanceDirs;
  readonly volumes: VolumeManager;
  readonly cgroups: CgroupManager;
  /** null = pods have no cgroups of their own. */
  readonly cgroupRoot: CgroupName | null;
  readonly keyring: Keyring;
  /** What the runtime said of itself; null = it did not. */
  readonly runtimeStatus: StatusResponse | null;
}

/** Rejects with HostError, or with CriError when the runtime does not answer. */
export async function prepareHost(deps: AgentDeps, signal: AbortSignal): Promise<HostSide> {
  const {config, clock, logger} = deps;
  const dirs = instanceDirs(config.rootDir, config.podLogsDir);
  const [machine, {driver, runtimeStatus}, keyring] = await Promise.all([
    readMachine(),
    askRuntime(deps.runtime, signal),
    hostKeyring(config.dockerConfigs, logger),
  ]);
  const [cgroups, quantities] = await Promise.all([
    config.cgroupsPerQOS ? createCgroupManager(driver, clock) : noPodCgroups,
    allocatable(machine, config),
  ]);
  if (cgroups.limitation !== null) logger.warn(cgroups.limitation);
  return {
    machine,
    facts: nodeFacts(machine, config, cgroups.version),
    allocatable: quantities,
    allocatablePids: allocatablePids(machine, config),
    dirs,
    volumes: createVolumeManager({dirs, clock, logger, allocatableMemory: quantities['memory']}),
    cgroups,
    cgroupRoot: config.cgroupsPerQOS ? config.cgroupRoot.split('/').filter(part => part !== '') : null,
    keyring,
    runtimeStatus,
  };
}

/** The runtime alone decides where containers go. */
const noPodCgroups: CgroupManager = {
  driver: 'cgroupfs',
  version: 1,
  limitation: null,
  ensure: () => Promise.resolve([]),
  update: () => Promise.resolve([]),
  exists: () => true,
  remove: () => Promise.resolve(),
  prune: () => Promise.resolve(),
};

async function askRuntime(
  runtime: RuntimeService,
  signal: AbortSignal,
): Promise<{readonly driver: CgroupDriver; readonly runtimeStatus: StatusResponse | null}> {
  const status = await runtime.status(signal, true).catch((error: unknown) => {
    if (error instanceof CriError) return error;
    throw error;
  });
  const driver = await cgroupDriverOf(runtime, status, signal);
  return {driver, runtimeStatus: status instanceof CriError ? null : status};
}

async function hostKeyring(files: readonly string[], logger: Logger): Promise<Keyring> {
  const keyring = await Promise.all(
    files.map(async file => {
      const text = await readFile(file, 'utf8').catch(() => null);
      if (text === null) return [];
      const parsed = parseDockerConfig(text);
      if (!parsed.ok) logger.warn('cannot use the credentials of a file', {file, error: parsed.problem});
      return parsed.ok ? parsed.keyring : [];
    }),
  );
  return keyring.flat();
}
