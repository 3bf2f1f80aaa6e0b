// What a container said when it ended: from its message file, else from the end of its log. Says what must be read, and
// makes the message of what was read; reading is the caller's.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go getTerminationMessage,
// convertToKubeContainerStatus.
import {ContainerState as CriContainerState, type ContainerStatus} from '../../cri/gen/cri.js';
import {messageOf} from '../../lib/error-message.js';
import {containerAnnotations} from './from-cri-labels.js';
import {logTail} from './log-tail.js';

/** Bytes of a message file that count, from its end. */
export const TERMINATION_MESSAGE_BYTES = 4096;

/** Paths on the host; null = not needed. */
export interface TerminationSources {
  /** The file behind the termination message path. */
  readonly file: string | null;
  /** The container's log, needed only when the file says nothing (see isLogNeeded). */
  readonly log: string | null;
}

/** What reading a file gave: its end, null when it does not exist, or why it cannot be read. */
export type ReadEnd =
  | {
      readonly bytes: Uint8Array;
      /** The bytes start somewhere within the file. */
      readonly cut: boolean;
    }
  | {readonly error: string}
  | null;

/** Where the words of a container are. Only a container that has exited has any. */
export function terminationSources(status: ContainerStatus): TerminationSources {
  if (status.state !== CriContainerState.CONTAINER_EXITED) return {file: null, log: null};
  const {terminationMessagePath, terminationMessagePolicy} = containerAnnotations(status.annotations);
  // What could not even be started has written no log.
  const fallback =
    terminationMessagePolicy === 'FallbackToLogsOnError' &&
    status.exitCode !== 0 &&
    status.reason !== 'ContainerCannotRun';
  const mount =
    terminationMessagePath === ''
      ? undefined
      : status.mounts.find(({containerPath}) => containerPath === absolutePath(terminationMessagePath));
  return {file: mount?.hostPath ?? null, log: fallback ? status.logPath : null};
}

/** Whether the log must be read, now that the message file has been. */
export function isLogNeeded(sources: TerminationSources, file: ReadEnd): boolean {
  return sources.log !== null && (file === null || ('bytes' in file && file.bytes.length === 0));
}

/** The status's message: the runtime's own, then what the container wrote. */
export function terminationMessage(status: ContainerStatus, file: ReadEnd, log: ReadEnd): string {
  const sources = terminationSources(status);
  const written = isLogNeeded(sources, file) ? textOfLog(log, sources.log ?? '') : textOfFile(file, sources.file ?? '');
  if (written === '') return status.message;
  return status.message === '' ? written : `${status.message}: ${written}`;
}

function textOfFile(file: ReadEnd, path: string): string {
  if (file === null) return '';
  if ('error' in file) return `Error on reading termination log ${path}: ${file.error}`;
  return decode(file.bytes.subarray(Math.max(0, file.bytes.length - TERMINATION_MESSAGE_BYTES)));
}

function textOfLog(log: ReadEnd, path: string): string {
  const failed = (why: string): string => `Error on reading termination message from logs: ${why}`;
  if (log === null) return failed(`failed to open log file ${JSON.stringify(path)}: no such file or directory`);
  if ('error' in log) return failed(log.error);
  try {
    return decode(logTail(log.bytes, log.cut));
  } catch (error) {
    return failed(messageOf(error));
  }
}

/** A message may start or end within a character, or hold no text at all: what is no UTF-8 is shown as such. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', {ignoreBOM: true}).decode(bytes);
}

function absolutePath(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
