// Answers to one list, read again and again.
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {
  Container,
  ContainerState,
  ListContainersResponse,
  ListPodSandboxResponse,
  PodSandbox,
} from '../../src/cri/gen/cri.js';
import {rememberContainers, rememberSandboxes} from '../../src/cri/list-memory.js';

const {CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED} = ContainerState;

const aContainer = (id: string, state: ContainerState): Container =>
  Container.fromPartial({
    id,
    podSandboxId: 'sandbox',
    metadata: {name: 'main', attempt: 0},
    state,
    createdAt: 7n,
    labels: {one: 'ä', two: id},
    annotations: {three: ''},
  });

const same = <T>(item: T): T => item;

const encoded = (containers: Container[]): Uint8Array => ListContainersResponse.encode({containers}).finish();

test('say what a plain decoder would say, whatever has come, gone and changed its state', () => {
  const answers = fc.array(
    fc.uniqueArray(
      fc.record({
        id: fc.constantFrom('a', 'b', 'c', 'd'),
        state: fc.constantFrom(CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED),
      }),
      {
        selector: ({id}) => id,
      },
    ),
    {maxLength: 6},
  );
  fc.assert(
    fc.property(answers, lists => {
      const memory = rememberContainers(same);
      for (const list of lists) {
        const bytes = encoded(list.map(({id, state}) => aContainer(id, state)));
        const {containers} = ListContainersResponse.decode(bytes);
        expect(new Set(memory.read(bytes))).toEqual(new Set(containers));
      }
    }),
  );
});

test('hand out the very objects that have not changed, and the very array when none has', () => {
  const memory = rememberContainers(same);
  const first = memory.read(encoded([aContainer('a', 1), aContainer('b', 1)]));
  expect(memory.read(encoded([aContainer('b', 1), aContainer('a', 1)]))).toBe(first);
  const second = memory.read(encoded([aContainer('a', 1), aContainer('b', 2)]));
  expect(second[0]).toBe(first[0]);
  expect(second[1]).toMatchObject({id: 'b', state: 2});
  expect(memory.read(encoded([aContainer('b', 2)]))).toEqual([second[1]]);
});

test('know a container under its old id as a new one when it says more than before', () => {
  const memory = rememberContainers(same);
  memory.read(encoded([aContainer('a', 1)]));
  const more = {...aContainer('a', 1), imageRef: 'sha256:1'};
  expect(memory.read(encoded([more]))).toEqual([more]);
});

test('are read of sandboxes, too, with fields that nobody knows', () => {
  const sandbox = PodSandbox.fromPartial({
    id: 's',
    state: 1,
    metadata: {name: 'n', uid: 'u', namespace: 'd', attempt: 2},
  });
  const known = ListPodSandboxResponse.encode({items: [sandbox]}).finish();
  // Field 9, a varint; field 10, bytes.
  const bytes = Buffer.concat([Buffer.from([0x48, 5, 0x52, 2, 1, 2]), known]);
  expect(rememberSandboxes(same).read(bytes)).toEqual([sandbox]);
});

test('are refused when they break off', () => {
  const bytes = encoded([aContainer('a', 1)]);
  expect(() => rememberContainers(same).read(bytes.subarray(0, -3))).toThrow(RangeError);
});
