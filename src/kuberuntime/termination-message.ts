// Reads what a container said when it ended: the end of its message file, or of its log.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go getTerminationMessage.
import {open} from 'node:fs/promises';
import {TERMINATION_LOG_READ_BYTES} from '../core/runtime-status/log-tail.js';
import {
  isLogNeeded,
  terminationMessage,
  TERMINATION_MESSAGE_BYTES,
  terminationSources,
  type ReadEnd,
} from '../core/runtime-status/termination-message.js';
import type {ContainerStatus} from '../cri/gen/cri.js';

/** Never rejects: a file that cannot be read is part of the message. */
export async function readTerminationMessage(status: ContainerStatus): Promise<string> {
  const sources = terminationSources(status);
  const file = sources.file === null ? null : await readEnd(sources.file, TERMINATION_MESSAGE_BYTES);
  const log =
    sources.log !== null && isLogNeeded(sources, file) ? await readEnd(sources.log, TERMINATION_LOG_READ_BYTES) : null;
  return terminationMessage(status, file, log);
}

async function readEnd(path: string, limit: number): Promise<ReadEnd> {
  try {
    const handle = await open(path, 'r');
    try {
      const {size} = await handle.stat();
      const start = Math.max(0, size - limit);
      const {buffer, bytesRead} = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
      return {bytes: buffer.subarray(0, bytesRead), cut: start > 0};
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    return {error: error instanceof Error ? error.message : String(error)};
  }
}
