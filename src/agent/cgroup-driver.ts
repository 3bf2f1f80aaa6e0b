// Who makes the cgroups of containers, as the runtime says: pods get theirs in the same way.
import type {CgroupDriver} from '../core/cri-config/pod-cgroup.js';
import {CriError} from '../core/errors.js';
import type {StatusResponse} from '../cri/gen/cri.js';
import type {RuntimeService} from '../cri/runtime-service.js';
import {runtimeConfig} from '../host/runtime-config.js';

/** RuntimeConfigResponse's number for it. */
const SYSTEMD_DRIVER = 0;

/**
 * containerd's verbose status tells, and before 2.0 it has no RuntimeConfig; others are asked. What is too old to say uses the
 * file system. Rejects with what the runtime answers, and with why there is no status where only that could have told.
 */
export async function cgroupDriverOf(
  runtime: Pick<RuntimeService, 'runtimeConfig'>,
  status: StatusResponse | CriError,
  signal: AbortSignal,
): Promise<CgroupDriver> {
  const told = status instanceof CriError ? undefined : runtimeConfig(status.info)?.cgroupDriver;
  if (told !== undefined) return told;
  try {
    const {linux} = await runtime.runtimeConfig(signal);
    return linux?.cgroupDriver === SYSTEMD_DRIVER ? 'systemd' : 'cgroupfs';
  } catch (error) {
    if (!(error instanceof CriError) || error.code !== 'UNIMPLEMENTED') throw error;
    if (status instanceof CriError) throw status;
    return 'cgroupfs';
  }
}
