// What the agent needs of this machine before it can start: read and made once.
import {readFileSync} from 'node:fs';
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
import {nextTurn} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import type {AgentDeps} from './agent.js';
import {cgroupDriverOf} from './cgroup-driver.js';
import type {AgentConfig} from './config.js';
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
  const [{driver, runtimeStatus}, own] = await Promise.all([
    askRuntime(deps.runtime, signal),
    // In the next turn, when the question to the runtime is on its way.
    nextTurn().then(() => readHost(config, logger)),
  ]);
  const cgroups = config.cgroupsPerQOS ? createCgroupManager(driver, clock) : noPodCgroups;
  if (cgroups.limitation !== null) logger.warn(cgroups.limitation);
  return {
    ...own,
    facts: nodeFacts(own.machine, config, cgroups.version),
    allocatablePids: allocatablePids(own.machine, config),
    dirs,
    volumes: createVolumeManager({dirs, clock, logger, allocatableMemory: own.allocatable['memory']}),
    cgroups,
    cgroupRoot: config.cgroupsPerQOS ? config.cgroupRoot.split('/').filter(part => part !== '') : null,
    runtimeStatus,
  };
}

function readHost(config: AgentConfig, logger: Logger): Pick<HostSide, 'machine' | 'allocatable' | 'keyring'> {
  const machine = readMachine();
  return {machine, allocatable: allocatable(machine, config), keyring: hostKeyring(config.dockerConfigs, logger)};
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

function hostKeyring(files: readonly string[], logger: Logger): Keyring {
  return files.flatMap(file => {
    const text = textOf(file);
    if (text === null) return [];
    const parsed = parseDockerConfig(text);
    if (!parsed.ok) logger.warn('cannot use the credentials of a file', {file, error: parsed.problem});
    return parsed.ok ? parsed.keyring : [];
  });
}

/** null = it cannot be read. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
