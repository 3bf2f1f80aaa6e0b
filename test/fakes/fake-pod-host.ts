// A host without a machine: nothing is mounted, logs are remembered by name.
import type {NodeFacts} from '../../src/core/cri-config/types.js';
import type {
  ContainerLog,
  ContainerOptions,
  ContainerOptionsInput,
  PodHost,
  SandboxOptions,
} from '../../src/kuberuntime/pod-host.js';

const FAKE_NODE: NodeFacts = {
  memoryCapacityBytes: 8 * 2 ** 30,
  cgroupVersion: 2,
  cpuCFSQuota: true,
  cpuCFSQuotaPeriodMs: 100,
  singleProcessOOMKill: false,
  swapControllerAvailable: false,
  memorySwapBehavior: '',
  swapCapacityBytes: 0,
  hugepageSizes: [],
  seccompDefault: false,
  seccompProfileRoot: '/var/lib/minikubelet/seccomp',
};

export class FakePodHost implements PodHost {
  readonly node: NodeFacts = FAKE_NODE;
  readonly podLogsDirectory: string = '/logs';
  /** What was asked, in order, e.g. `link web/main`. */
  readonly calls: string[] = [];
  readonly links: ContainerLog[] = [];
  /** Restart counts that left-over logs suggest, by container name. */
  readonly leftOverLogs = new Map<string, number>();
  /** Thrown by the method of that name. */
  readonly failures = new Map<keyof PodHost, Error>();
  instance = 'test';

  sandboxOptions(): Promise<SandboxOptions> {
    const ownership = {instance: this.instance, source: ''};
    return this.#answer('sandboxOptions', {
      hostname: 'host',
      dns: undefined,
      cgroupParent: '',
      userNamespace: undefined,
      ownership,
    });
  }

  runtimeHandler(): Promise<string> {
    return this.#answer('runtimeHandler', '');
  }

  makePodLogDirectory(): Promise<void> {
    return this.#answer('makePodLogDirectory', undefined);
  }

  makeContainerLogDirectory(): Promise<void> {
    return this.#answer('makeContainerLogDirectory', undefined);
  }

  containerOptions({container}: ContainerOptionsInput): Promise<ContainerOptions> {
    const release = (): Promise<void> => {
      this.calls.push(`release ${container.name}`);
      return Promise.resolve();
    };
    return this.#answer('containerOptions', {env: [], mounts: [], release});
  }

  restartCountFromLogs(_pod: unknown, containerName: string): Promise<number> {
    return this.#answer('restartCountFromLogs', this.leftOverLogs.get(containerName) ?? 0);
  }

  linkContainerLog(log: ContainerLog): Promise<void> {
    this.links.push(log);
    return this.#answer('linkContainerLog', undefined);
  }

  removeContainerLog(log: ContainerLog): Promise<void> {
    this.calls.push(`removeContainerLog ${log.containerName}`);
    return this.#answer('removeContainerLog', undefined);
  }

  removePodLogs({name}: {readonly name: string}): Promise<void> {
    this.calls.push(`removePodLogs ${name}`);
    return this.#answer('removePodLogs', undefined);
  }

  #answer<T>(method: keyof PodHost, value: T): Promise<T> {
    const failure = this.failures.get(method);
    return failure === undefined ? Promise.resolve(value) : Promise.reject(failure);
  }
}
