// Asks the runtime now and then how it is.
// Mirrors kubelet v1.36 pkg/kubelet/runtime.go and kubelet.go updateRuntimeUp.
import {CriError} from '../core/errors.js';
import type {StatusResponse} from '../cri/gen/cri.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import {healthOf, type RuntimeFeatures, type RuntimeHealth} from '../kuberuntime/runtime-health.js';
import {sleepUntilTick, type Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';

export interface RuntimeMonitorDeps {
  readonly kubeRuntime: Pick<KubeRuntime, 'health'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PERIOD_MS = 5000;

const NO_FEATURES: RuntimeFeatures = {
  recursiveReadOnlyMounts: false,
  userNamespaces: false,
  supplementalGroupsPolicy: false,
};

export class RuntimeMonitor {
  readonly #deps: RuntimeMonitorDeps;
  #health: RuntimeHealth | null = null;
  #error: string | null = null;

  constructor(deps: RuntimeMonitorDeps) {
    this.#deps = deps;
  }

  /** Takes over what the runtime has just said. */
  adopt(status: StatusResponse): void {
    this.#health = healthOf(status);
  }

  /** Asks once. Rejects with CriError. */
  async ask(signal: AbortSignal): Promise<void> {
    this.#health = await this.#deps.kubeRuntime.health(signal);
    this.#error = null;
  }

  /** Asks again and again until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleepUntilTick(this.#deps.clock, PERIOD_MS, signal);
      try {
        await this.ask(signal);
      } catch (error) {
        if (!(error instanceof CriError)) throw error;
        this.#deps.logger.debug('the runtime does not say how it is', {code: error.code, error: error.message});
        this.#error = error.message;
      }
    }
  }

  /** Why pods with a network of their own cannot start; null = they can. */
  get networkProblem(): string | null {
    if (this.#health === null || this.#health.networkReady) return null;
    return `container runtime network not ready: ${problemOf(this.#health, 'NetworkReady')}`;
  }

  /** What is wrong with the runtime as a whole; null = nothing. */
  get runtimeProblem(): string | null {
    if (this.#error !== null) return this.#error;
    if (this.#health === null || this.#health.runtimeReady) return null;
    return problemOf(this.#health, 'RuntimeReady');
  }

  /** What the runtime can do; nothing as long as it has not answered. */
  get features(): RuntimeFeatures {
    return this.#health?.features ?? NO_FEATURES;
  }

  /** Names of the runtime's handlers. */
  get handlers(): readonly string[] {
    return this.#health?.handlers ?? [];
  }
}

function problemOf({problems}: RuntimeHealth, condition: string): string {
  return problems.find(problem => problem.startsWith(condition)) ?? `${condition} is not reported`;
}
