// Has the logs of running containers rotated before they fill the disk.
// Mirrors kubelet v1.36 pkg/kubelet/logs/container_log_manager.go Start, rotateLogs.
import type {LogRotationPolicy} from '../core/logs/rotation.js';
import type {KubeRuntime, RunningLog} from '../kuberuntime/kube-runtime.js';
import {sleepUntilTick, type Clock} from '../lib/clock.js';
import type {Pleg} from './pleg.js';

export interface ContainerLogManagerDeps {
  readonly clock: Clock;
  readonly kubeRuntime: Pick<KubeRuntime, 'rotateLogs'>;
  readonly pleg: Pick<Pleg, 'pods' | 'status'>;
  readonly policy: LogRotationPolicy;
}

/** The kubelet's --container-log-monitor-interval. */
const PERIOD_MS = 10_000;

/** Looks at all logs again and again. Rejects with the signal's reason when it aborts, else only on a bug. */
export async function manageContainerLogs(deps: ContainerLogManagerDeps, signal: AbortSignal): Promise<never> {
  const {clock, kubeRuntime, policy} = deps;
  for (;;) {
    await sleepUntilTick(clock, PERIOD_MS, signal);
    await kubeRuntime.rotateLogs(runningLogs(deps), policy, signal);
  }
}

/** As far as known without asking: a container whose status is still on its way has written little. */
function runningLogs({pleg}: ContainerLogManagerDeps): readonly RunningLog[] {
  return pleg.pods().flatMap(pod =>
    pleg.status(pod).containers.flatMap(({id, state, logPath}) => {
      return state === 'running' && logPath !== undefined && logPath !== '' ? [{id, logPath}] : [];
    }),
  );
}
