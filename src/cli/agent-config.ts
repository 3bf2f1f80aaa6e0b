// The agent's configuration from the flags that all commands which run one share.
import {resolve} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {agentConfig, type AgentConfig} from '../agent/config.js';
import type {GlobalFlags} from './base-command.js';
import type {agentFlags} from './flags.js';
import {nodeNameOf, rootDirOf} from './paths.js';

export type AgentFlags = Interfaces.InferredFlags<typeof agentFlags>;

export function agentConfigOf(flags: GlobalFlags & AgentFlags): AgentConfig {
  const given = withoutUndefined<AgentConfig>({
    podLogsDir: absolute(flags['pod-logs-dir']),
    cgroupsPerQOS: flags['cgroups-per-qos'],
    cgroupRoot: flags['cgroup-root'],
    maxParallelImagePulls: flags['max-parallel-image-pulls'],
    allowedUnsafeSysctls: flags['allowed-unsafe-sysctls'],
    crashLoopMaxMs: flags['crash-loop-max'],
    maxPods: flags['max-pods'],
    reserved: flags['system-reserved'],
    capacity: flags.capacity,
    nodeLabels: flags['node-labels'],
    clusterDomain: flags['cluster-domain'],
    clusterDNS: flags['cluster-dns'],
    resolvConf: flags['resolv-conf'],
    syncFrequencyMs: flags['sync-frequency'],
    seccompDefault: flags['seccomp-default'],
  });
  return agentConfig({rootDir: rootDirOf(flags), nodeName: nodeNameOf(flags), ...given});
}

/** Flags that were not given leave the default. */
function withoutUndefined<T>(given: {readonly [Key in keyof T]?: T[Key] | undefined}): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function absolute(path: string | undefined): string | undefined {
  return path === undefined || path === '' ? undefined : resolve(path);
}
