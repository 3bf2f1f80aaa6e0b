// What happens to containers, told by the runtime as it happens. Two services can tell: the CRI event stream, and
// containerd's own event service on the same socket. Both are asked at once, so that nothing is lost while the first
// one says that it is not implemented.
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
 * Only CRI's containers live in the namespace k8s.io. TaskDelete is left out: it follows the exit and says the same.
 */
export const TASK_FILTER = 'namespace==k8s.io,topic~="^/tasks/(start|exit|oom)"';

/** See RuntimeService.events. */
export function runtimeEvents(channel: GrpcChannel, signal: AbortSignal): AsyncIterable<RuntimeEvent> {
  const unneeded = new AbortController();
  const criStream = channel.stream(
    RuntimeServiceDefinition.fullName,
    RuntimeServiceDefinition.methods.getContainerEvents,
    {},
    signal,
  );
  const taskStream = channel.stream(
    EventsDefinition.fullName,
    EventsDefinition.methods.subscribe,
    {filters: [TASK_FILTER]},
    AbortSignal.any([signal, unneeded.signal]),
  );
  const dropTasks = (): void => unneeded.abort(new Error('the CRI event stream is served'));
  return endless(firstServed(criStream, taskStream, dropTasks), channel.endpoint);
}

/** A runtime that shuts down ends its streams politely; to us it is lost all the same. */
async function* endless(events: AsyncIterable<RuntimeEvent>, endpoint: string): AsyncGenerator<RuntimeEvent> {
  yield* events;
  throw criErrorFrom('GetContainerEvents', endpoint, {
    code: codeNumber('UNAVAILABLE'),
    details: 'the runtime ended the event stream',
  });
}

async function* firstServed(
  criStream: AsyncIterable<ContainerEventResponse>,
  taskStream: AsyncIterable<Envelope>,
  dropTasks: () => void,
): AsyncGenerator<RuntimeEvent> {
  try {
    let served = false;
    try {
      for await (const event of criStream) {
        if (!served) dropTasks();
        served = true;
        const translated = eventOfCri(event);
        if (translated !== null) yield translated;
      }
    } catch (error) {
      if (served || !isCriCode(error, 'UNIMPLEMENTED')) throw error;
    }
    // CRI-O ends the stream at once, without an error, when events are switched off.
    if (served) return;
    for await (const envelope of taskStream) {
      const translated = eventOfTask(envelope);
      if (translated !== null) yield translated;
    }
  } finally {
    dropTasks();
  }
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
