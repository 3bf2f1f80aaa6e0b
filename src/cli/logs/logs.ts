// `logs`: from flags to the log files that are meant, and on to standard output.
import {once} from 'node:events';
import {UsageError} from '../../core/errors.js';
import type {LogOptions} from '../../core/logs/log-options.js';
import {readPodStatus} from '../../kuberuntime/pod-lists.js';
import {parseLabelSelector, type LabelMatcher} from '../pods/label-selector.js';
import type {Reader} from '../pods/reader.js';
import {mustFindPod} from '../pods/select-pods.js';
import type {Session} from '../session.js';
import {chooseLogs, writeLogs, type ChosenLogs, type LogChoice} from './pod-logs.js';

export interface LogRequest {
  readonly pods:
    | {readonly name: string; readonly namespace: string | undefined; readonly nodeName: string}
    | {readonly matches: LabelMatcher; readonly namespace: string};
  readonly choice: LogChoice;
  readonly options: LogOptions & {readonly prefix: boolean};
}

interface LogFlags {
  readonly container?: string | undefined;
  readonly 'all-containers': boolean;
  readonly selector?: string | undefined;
  readonly namespace?: string | undefined;
  readonly nodeName: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly since?: number | undefined;
  readonly 'since-time'?: string | undefined;
  readonly tail?: number | undefined;
  readonly 'limit-bytes'?: number | undefined;
  readonly timestamps: boolean;
  readonly prefix: boolean;
}

/** kubectl's default for many pods at once. */
const TAIL_OF_MANY = 10;

/** Throws UsageError for words that do not go together. */
export function logRequest(
  args: {readonly pod?: string | undefined; readonly container?: string | undefined},
  flags: LogFlags,
): LogRequest {
  if ((args.pod === undefined) === (flags.selector === undefined)) {
    throw new UsageError('name a pod, or select pods by label with -l', {hint: 'see minikubelet logs --help'});
  }
  if (args.container !== undefined && flags.container !== undefined) {
    throw new UsageError('the container is named twice, by position and by -c');
  }
  const sinceTime = flags['since-time'];
  if (sinceTime !== undefined && Number.isNaN(Date.parse(sinceTime))) {
    throw new UsageError(`--since-time: ${JSON.stringify(sinceTime)} is not a time`, {
      hint: 'e.g. 2026-01-31T12:00:00Z',
    });
  }
  const container = args.container ?? flags.container;
  return {
    pods:
      args.pod === undefined
        ? {matches: parseLabelSelector(flags.selector ?? ''), namespace: flags.namespace ?? 'default'}
        : {name: args.pod, namespace: flags.namespace, nodeName: flags.nodeName},
    choice: {
      ...(container !== undefined && {container}),
      all: flags['all-containers'],
      previous: flags.previous,
    },
    options: {...optionsOf(flags), prefix: flags.prefix},
  };
}

function optionsOf(flags: LogFlags): LogOptions {
  const tail = flags.tail ?? (flags.selector === undefined ? -1 : TAIL_OF_MANY);
  const {since, 'since-time': sinceTime, 'limit-bytes': limitBytes} = flags;
  return {
    follow: flags.follow,
    timestamps: flags.timestamps,
    ...(tail >= 0 && {tailLines: tail}),
    ...(since !== undefined && {sinceSeconds: since / 1000}),
    ...(sinceTime !== undefined && {sinceTime}),
    ...(limitBytes !== undefined && {limitBytes}),
  };
}

/** Rejects with UsageError when there is no such pod or container, with HostError when a log cannot be read. */
export async function printLogs(session: Session, reader: Reader, request: LogRequest): Promise<void> {
  const chosen = await chooseAll(session, reader, request);
  for (const {note} of chosen) if (note !== null) session.err(note);
  const targets = chosen.flatMap(one => one.targets);
  if (targets.length === 0) session.err('No logs found.');
  const {runtime} = await reader.connection();
  const write = (text: Uint8Array): Promise<void> => writeOut(text, session.signal);
  await writeLogs({runtime, clock: session.clock, write}, targets, request.options, session.signal);
}

async function chooseAll(session: Session, reader: Reader, {pods, choice}: LogRequest): Promise<readonly ChosenLogs[]> {
  const all = (await reader.pods()).map(({pod}) => pod);
  const meant =
    'name' in pods
      ? [
          mustFindPod(
            all.map(pod => ({...pod.metadata, pod})),
            pods,
          ).pod,
        ]
      : all.filter(pod => pod.metadata.namespace === pods.namespace && pods.matches(pod.metadata.labels));
  const deps = await reader.runtimeDeps();
  return Promise.all(
    meant.map(async pod => chooseLogs(pod, await readPodStatus(deps, pod.metadata, session.signal), choice)),
  );
}

async function writeOut(text: Uint8Array, signal: AbortSignal): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain', {signal});
}
