// The vectors' neutral runtime status as the project's own: only the spelling of one number differs.
import type {ProbeResult, ProbeResults} from '../../src/core/actions/types.js';
import type {ContainerId, PodRuntimeStatus, RuntimeSandboxStatus} from '../../src/core/runtime-status/types.js';

type NeutralSandbox = Omit<RuntimeSandboxStatus, 'createdAtNs' | 'ip' | 'additionalIPs'> & {
  readonly createdAt: string;
  readonly ip?: string | null;
  readonly additionalIPs?: readonly string[];
};

/** `podStatus` as the vectors' README describes it. */
export type NeutralStatus = Omit<PodRuntimeStatus, 'sandboxes' | 'ips' | 'containers'> & {
  readonly ips?: readonly string[];
  readonly sandboxes?: readonly NeutralSandbox[];
  readonly containers?: PodRuntimeStatus['containers'];
};

export function fromNeutral(status: NeutralStatus): PodRuntimeStatus {
  return {
    id: status.id,
    name: status.name,
    namespace: status.namespace,
    ips: status.ips ?? [],
    sandboxes: (status.sandboxes ?? []).map(({createdAt, ip, additionalIPs, ...rest}) => ({
      ...rest,
      createdAtNs: BigInt(createdAt),
      ip: ip ?? null,
      additionalIPs: additionalIPs ?? [],
    })),
    containers: status.containers ?? [],
  };
}

export function toNeutral(status: PodRuntimeStatus): NeutralStatus {
  return {
    ...status,
    sandboxes: status.sandboxes.map(({createdAtNs, additionalIPs, ...rest}) => ({
      ...rest,
      createdAt: createdAtNs.toString(),
      ...(additionalIPs.length > 0 && {additionalIPs}),
    })),
  };
}

/** Container id -> result, as the vectors write it. */
export function probeResults(results: Readonly<Record<string, ProbeResult>> | undefined): ProbeResults {
  return new Map(Object.entries(results ?? {}) as [ContainerId, ProbeResult][]);
}
