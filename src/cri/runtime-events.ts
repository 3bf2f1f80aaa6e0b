// What happens to containers, told by the runtime as it happens. Two services can tell: containerd's own event service, on
// the socket that serves CRI, and the CRI event stream. containerd's comes first where there is one: it tells of an exit
// 50 ms (2.1) to 250 ms (1.7) before the CRI stream does, and 1.7 hands each CRI event to only one of its subscribers.
import {codeNumber, criErrorFrom, isCriCode} from './errors.js';
import {
  EventsDefinition,
  TaskExit,
  TaskOOM,
  TaskStart,
  type Envelope,
  type Timestamp,
} from './gen/containerd-events.js';
import {ContainerEventType, ContainerState, RuntimeServiceDefinition, type ContainerEventResponse} from './gen/cri.js';
import type {GrpcChannel} from './grpc-channel.js';
import type {RuntimeEvent} from './runtime-service.js';

/**
 * Only CRI's containers live in the namespace k8s.io. What starts, we have started; TaskDelete follows the exit and says the
 * same.
 */
const TASK_FILTER = 'namespace==k8s.io,topic~="^/tasks/(exit|oom)"';

/** See RuntimeService.events. `runtimeName` as Version says it: which service is asked first, and at once. */
export function runtimeEvents(
  channel: GrpcChannel,
  runtimeName: string,
  signal: AbortSignal,
): AsyncIterable<RuntimeEvent> {
  const {fullName, methods} = EventsDefinition;
  const {fullName: criName, methods: criMethods} = RuntimeServiceDefinition;
  const tasks = (): AsyncIterable<RuntimeEvent> =>
    translated(channel.stream(fullName, methods.subscribe, {filters: [TASK_FILTER]}, signal), eventOfTask);
  const cri = (): AsyncIterable<RuntimeEvent> =>
    translated(channel.stream(criName, criMethods.getContainerEvents, {}, signal), eventOfCri);
  const [first, second] = runtimeName === 'containerd' ? [tasks, cri] : [cri, tasks];
  return endless(firstServed(first(), second), channel.endpoint);
}

async function* translated<T>(
  items: AsyncIterable<T>,
  translate: (item: T) => RuntimeEvent | null,
): AsyncGenerator<RuntimeEvent> {
  for await (const item of items) {
    const event = translate(item);
    if (event !== null) yield event;
  }
}

/** Ends when the server ends the stream. */
async function* firstServed(
  first: AsyncIterable<RuntimeEvent>,
  second: () => AsyncIterable<RuntimeEvent>,
): AsyncGenerator<RuntimeEvent, 'ended' | 'off'> {
  let told = false;
  try {
    for await (const event of first) {
      told = true;
      yield event;
    }
    // CRI-O ends the stream at once, without an error, when its events are switched off.
    if (told) return 'ended';
  } catch (error) {
    if (told || !isCriCode(error, 'UNIMPLEMENTED')) throw error;
  }
  for await (const event of second()) {
    told = true;
    yield event;
  }
  return told ? 'ended' : 'off';
}

/** A runtime that shuts down ends its streams politely; to us it is lost all the same. */
async function* endless(
  events: AsyncGenerator<RuntimeEvent, 'ended' | 'off'>,
  endpoint: string,
): AsyncGenerator<RuntimeEvent> {
  const end = yield* events;
  const [code, details] =
    end === 'off'
      ? (['UNIMPLEMENTED', 'the runtime tells no events'] as const)
      : (['UNAVAILABLE', 'the runtime ended the event stream'] as const);
  throw criErrorFrom('GetContainerEvents', endpoint, {code: codeNumber(code), details});
}

/** null = of a kind that a newer runtime invented. */
export function eventOfCri(event: ContainerEventResponse): RuntimeEvent | null {
  const type = CRI_TYPES[event.containerEventType];
  if (type === undefined) return null;
  const id = event.containerId;
  const container = event.containersStatuses.find(status => status.id === id);
  const exited = type === 'exited' && container?.state === ContainerState.CONTAINER_EXITED ? container : undefined;
  return {
    type,
    id,
    at: Number((exited?.finishedAt ?? event.createdAt) / NS_PER_MS),
    ...(exited === undefined ? {} : {exitCode: exited.exitCode}),
    cri: event,
  };
}

/** null = not about a container: the exit of a command run in one, or another kind. */
export function eventOfTask(envelope: Envelope): RuntimeEvent | null {
  const {event, timestamp} = envelope;
  switch (event?.typeUrl) {
    case 'containerd.events.TaskStart':
      return {type: 'started', id: TaskStart.decode(event.value).containerId, at: msOf(timestamp)};
    case 'containerd.events.TaskOOM':
      return {type: 'oom', id: TaskOOM.decode(event.value).containerId, at: msOf(timestamp)};
    case 'containerd.events.TaskExit': {
      const exit = TaskExit.decode(event.value);
      if (exit.id !== exit.containerId) return null;
      return {type: 'exited', id: exit.containerId, at: msOf(exit.exitedAt ?? timestamp), exitCode: exit.exitStatus};
    }
    default:
      return null;
  }
}

const NS_PER_MS = 1_000_000n;

const CRI_TYPES: Readonly<Record<number, RuntimeEvent['type']>> = {
  [ContainerEventType.CONTAINER_CREATED_EVENT]: 'created',
  [ContainerEventType.CONTAINER_STARTED_EVENT]: 'started',
  [ContainerEventType.CONTAINER_STOPPED_EVENT]: 'exited',
  [ContainerEventType.CONTAINER_DELETED_EVENT]: 'deleted',
};

function msOf(timestamp: Timestamp | undefined): number {
  if (timestamp === undefined) return 0;
  return Number(timestamp.seconds) * 1000 + Math.trunc(timestamp.nanos / 1_000_000);
}
