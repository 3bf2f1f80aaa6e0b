import {describe, expect, it, test} from 'vitest';
import {TaskDelete, TaskExit, TaskOOM, TaskStart, type Envelope} from '../../src/cri/gen/containerd-events.js';
import {ContainerEventResponse, ContainerEventType, ContainerState} from '../../src/cri/gen/cri.js';
import {eventOfCri, eventOfTask} from '../../src/cri/runtime-events.js';

const timestamp = {seconds: 1_700_000_000n, nanos: 5_999_999};
const exitedAt = {seconds: 1_700_000_000n, nanos: 4_000_001};
const AT = 1_700_000_000_005;

function envelope(type: string, value: Uint8Array): Envelope {
  const event = {typeUrl: `containerd.events.${type}`, value: Buffer.from(value)};
  return {timestamp, namespace: 'k8s.io', topic: '/tasks/x', event};
}

describe("an event of containerd's own service", () => {
  it('of a start is told with its time', () => {
    const value = TaskStart.encode({containerId: 'c1', pid: 7}).finish();
    expect(eventOfTask(envelope('TaskStart', value))).toEqual({type: 'started', id: 'c1', at: AT});
  });

  it('of an exit is told with its code and the time of the exit itself', () => {
    const value = TaskExit.encode({containerId: 'c1', id: 'c1', pid: 7, exitStatus: 137, exitedAt}).finish();
    expect(eventOfTask(envelope('TaskExit', value))).toEqual({type: 'exited', id: 'c1', at: AT - 1, exitCode: 137});
  });

  it('of an exit with 0 tells the 0', () => {
    const value = TaskExit.encode({containerId: 'c1', id: 'c1', pid: 7, exitStatus: 0, exitedAt: undefined}).finish();
    expect(eventOfTask(envelope('TaskExit', value))).toEqual({type: 'exited', id: 'c1', at: AT, exitCode: 0});
  });

  it('of a command that ended in a container is not told', () => {
    const value = TaskExit.encode({containerId: 'c1', id: 'exec-1', pid: 8, exitStatus: 1, exitedAt}).finish();
    expect(eventOfTask(envelope('TaskExit', value))).toBeNull();
  });

  it('of a kill for want of memory is told', () => {
    const value = TaskOOM.encode({containerId: 'c1'}).finish();
    expect(eventOfTask(envelope('TaskOOM', value))).toEqual({type: 'oom', id: 'c1', at: AT});
  });

  it('of another kind, or without a content, is not told', () => {
    const value = TaskDelete.encode({containerId: 'c1', pid: 7, exitStatus: 1, exitedAt, id: ''}).finish();
    expect(eventOfTask(envelope('TaskDelete', value))).toBeNull();
    expect(eventOfTask({...envelope('TaskStart', new Uint8Array()), event: undefined})).toBeNull();
  });
});

describe('an event of the CRI stream', () => {
  const createdAt = 1_700_000_000_005_999_999n;
  const cri = (type: number, statuses: object[] = []): ContainerEventResponse =>
    ContainerEventResponse.fromPartial({
      containerId: 'c1',
      containerEventType: type as ContainerEventType,
      createdAt,
      containersStatuses: statuses,
    });

  test.for([
    [ContainerEventType.CONTAINER_CREATED_EVENT, 'created'],
    [ContainerEventType.CONTAINER_STARTED_EVENT, 'started'],
    [ContainerEventType.CONTAINER_DELETED_EVENT, 'deleted'],
  ] as const)('of kind %i is told as %s, with the pod as CRI gave it', ([kind, type]) => {
    const event = cri(kind);
    expect(eventOfCri(event)).toEqual({type, id: 'c1', at: AT, cri: event});
  });

  it('of an exit is told with code and time out of the status that comes with it', () => {
    const event = cri(ContainerEventType.CONTAINER_STOPPED_EVENT, [
      {id: 'c0', state: ContainerState.CONTAINER_EXITED, exitCode: 1},
      {id: 'c1', state: ContainerState.CONTAINER_EXITED, exitCode: 3, finishedAt: 1_700_000_000_001_000_000n},
    ]);
    expect(eventOfCri(event)).toEqual({type: 'exited', id: 'c1', at: AT - 4, exitCode: 3, cri: event});
  });

  it('of an exit whose status does not show it yet, or of a sandbox, has no code', () => {
    const running = cri(ContainerEventType.CONTAINER_STOPPED_EVENT, [
      {id: 'c1', state: ContainerState.CONTAINER_RUNNING},
    ]);
    expect(eventOfCri(running)).toEqual({type: 'exited', id: 'c1', at: AT, cri: running});
    expect(eventOfCri(cri(ContainerEventType.CONTAINER_STOPPED_EVENT))).not.toHaveProperty('exitCode');
  });

  it('of a kind that nobody knows is not told', () => {
    expect(eventOfCri(cri(99))).toBeNull();
  });
});
