// Reads what a container said when it ended: the end of its message file, or of its log.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go getTerminationMessage.
import {closeSync, constants, fstatSync, openSync, readSync} from 'node:fs';
import {TERMINATION_LOG_READ_BYTES} from '../core/runtime-status/log-tail.js';
import {
  isLogNeeded,
  terminationMessage,
  TERMINATION_MESSAGE_BYTES,
  terminationSources,
  type ReadEnd,
} from '../core/runtime-status/termination-message.js';
import type {ContainerStatus} from '../cri/gen/cri.js';
import {codeOf} from '../lib/error-code.js';
import {messageOf} from '../lib/error-message.js';

/** Never throws: a file that cannot be read is part of the message. Synchronous: at most a few KB, asked at each look. */
export function readTerminationMessage(status: ContainerStatus): string {
  const sources = terminationSources(status);
  const file = sources.file === null ? null : readEnd(sources.file, TERMINATION_MESSAGE_BYTES);
  const log =
    sources.log !== null && isLogNeeded(sources, file) ? readEnd(sources.log, TERMINATION_LOG_READ_BYTES) : null;
  return terminationMessage(status, file, log);
}

function readEnd(path: string, limit: number): ReadEnd {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const {size} = fstatSync(fd);
      const start = Math.max(0, size - limit);
      const buffer = Buffer.alloc(size - start);
      const bytesRead = readSync(fd, buffer, 0, buffer.length, start);
      return {bytes: buffer.subarray(0, bytesRead), cut: start > 0};
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    return {error: messageOf(error)};
  }
}
