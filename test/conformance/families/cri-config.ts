// Configs of sandboxes and containers, as proto3 JSON.
import {containerConfig, PLAIN_MOUNT} from '../../../src/core/cri-config/container-config.js';
import {podSandboxConfig} from '../../../src/core/cri-config/pod-sandbox-config.js';
import type {EnvEntry, ImageUser, NodeFacts} from '../../../src/core/cri-config/types.js';
import type {Pod} from '../../../src/core/pod/types.js';
import {MountPropagation, type DNSConfig} from '../../../src/cri/gen/cri.js';
import type {Family} from '../family.js';
import {protoJson} from '../proto-json.js';

interface Input {
  readonly pod: Pod;
  readonly container: string;
  readonly sandboxAttempt: number;
  readonly restartCount: number;
  readonly imageRef: string;
  readonly imageUser: ImageUser;
  readonly seccompDefault: boolean;
  readonly seccompProfileRoot: string;
  readonly hostname: string;
  readonly dns: DNSConfig;
  readonly cgroupParent: string;
  readonly podLogsDirectory: string;
  readonly podContainerDir: string;
  readonly memoryCapacityBytes: number;
  readonly env: readonly EnvEntry[];
  readonly mounts: readonly {
    readonly containerPath: string;
    readonly hostPath: string;
    readonly readOnly: boolean;
    readonly propagation: keyof typeof MountPropagation;
  }[];
}

export const family: Family<Input, unknown> = {
  run(input) {
    return {...built('sandbox', () => sandbox(input)), ...built('container', () => container(input))};
  },
  normalize(value) {
    const {sandboxError, containerError, ...rest} = value as Record<string, unknown>;
    return {...rest, sandboxFails: sandboxError !== undefined, containerFails: containerError !== undefined};
  },
};

function built(what: string, build: () => unknown): object {
  try {
    return {[what]: build()};
  } catch (error) {
    return {[`${what}Error`]: (error as Error).message};
  }
}

function sandbox(input: Input): unknown {
  const attempt = input.sandboxAttempt;
  return protoJson(podSandboxConfig({...input, attempt, node: nodeOf(input), userNamespace: undefined}));
}

function container(input: Input): unknown {
  const {containers, initContainers = [], ephemeralContainers = []} = input.pod.spec;
  const found = [...containers, ...initContainers, ...ephemeralContainers].find(({name}) => name === input.container)!;
  const config = containerConfig({
    ...input,
    container: found,
    mounts: input.mounts.map(({readOnly, propagation, ...paths}) => ({
      ...PLAIN_MOUNT,
      ...paths,
      readonly: readOnly,
      propagation: MountPropagation[propagation],
    })),
    terminationLogPath: `${input.podContainerDir}/{random}`,
    node: nodeOf(input),
    userNamespace: undefined,
  });
  return protoJson(config);
}

/** The README: cgroup v2, quota on, 100 ms period, group OOM kill on, no swap controller. */
function nodeOf({memoryCapacityBytes, seccompDefault, seccompProfileRoot}: Input): NodeFacts {
  return {
    memoryCapacityBytes,
    seccompDefault,
    seccompProfileRoot,
    cgroupVersion: 2,
    cpuCFSQuota: true,
    cpuCFSQuotaPeriodMs: 100,
    singleProcessOOMKill: false,
    swapControllerAvailable: false,
    memorySwapBehavior: '',
    swapCapacityBytes: 0,
    hugepageSizes: ['2MB'],
  };
}
