// Environments and command lines of containers; look-ups in env files.
import {containerConfig} from '../../../src/core/cri-config/container-config.js';
import {PodError} from '../../../src/core/errors.js';
import {containerEnv, envText} from '../../../src/core/pod/env.js';
import {EnvFileError, envFileValue} from '../../../src/core/pod/env-file.js';
import type {Pod, Quantity} from '../../../src/core/pod/types.js';
import type {Family} from '../family.js';

type Texts = Readonly<Record<string, string>>;

type Input =
  | {
      kind: 'container';
      pod: Pod;
      container: string;
      podIPs: string[] | null;
      hostIPs: string[] | null;
      nodeAllocatable: Readonly<Record<string, Quantity>>;
      configMaps: Readonly<Record<string, Texts>>;
      secrets: Readonly<Record<string, Texts>>;
    }
  | {kind: 'envfile'; content: string; key: string};

export const family: Family<Input, unknown> = {
  run(input) {
    try {
      return input.kind === 'envfile' ? {value: envFileValue(input.content, input.key)} : runContainer(input);
    } catch (error) {
      if (error instanceof PodError || error instanceof EnvFileError) return {error: error.message};
      throw error;
    }
  },
  normalize(value) {
    const {error, ...rest} = value as {error?: string};
    return {...rest, failed: error !== undefined};
  },
};

function runContainer(input: Extract<Input, {kind: 'container'}>): object {
  const {containers, initContainers = [], ephemeralContainers = []} = input.pod.spec;
  const container = [...containers, ...initContainers, ...ephemeralContainers].find(
    ({name}) => name === input.container,
  )!;
  const object = (all: Readonly<Record<string, Texts>>) => (name: string) =>
    all[name] === undefined ? undefined : {data: all[name]};
  const env = containerEnv({
    ...input,
    container,
    podIPs: input.podIPs ?? [],
    hostIPs: input.hostIPs ?? [],
    configMap: object(input.configMaps),
    secret: object(input.secrets),
    volumeFile: () => undefined,
  });
  const {command, args} = containerConfig({
    ...input,
    container,
    restartCount: 0,
    imageRef: '',
    imageUser: {},
    env,
    mounts: [],
    node: NODE,
    userNamespace: undefined,
  });
  return {env: Object.fromEntries(env.map(({name, value}) => [name, envText(value)])), command, args};
}

const NODE = {
  memoryCapacityBytes: 1,
  cgroupVersion: 2,
  cpuCFSQuota: true,
  cpuCFSQuotaPeriodMs: 100,
  singleProcessOOMKill: false,
  swapControllerAvailable: false,
  memorySwapBehavior: '',
  swapCapacityBytes: 0,
  hugepageSizes: [],
  seccompDefault: false,
  seccompProfileRoot: '/',
} as const;
