// What minikubelet relies on in a container runtime. Run against the fake runtime, against the gRPC client and server
// around it, and against every containerd that can be had; where the versions differ, the spec says so.
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';
import type {CriError} from '../../src/core/errors.js';
import {
  ContainerConfig,
  ContainerState,
  NamespaceMode,
  PodSandboxConfig,
  PodSandboxState,
  type ContainerStatus,
  type PodSandboxStatus,
} from '../../src/cri/gen/cri.js';
import type {RuntimeEvent} from '../../src/cri/runtime-service.js';
import {IMAGE, PROGRAMS, UNTIL_OBEDIENT, type Program, type Subject} from './subject.js';

const UNKNOWN_ID = 'f00dfeed';
/** Not every runtime tells of the others. */
const isEnd = (type: string): boolean => type !== 'created' && type !== 'started';
/** How a name that is taken is refused; containerd 2 has a code for it. */
const RESERVED = /^(UNKNOWN|FAILED_PRECONDITION)$/;
let pods = 0;

/** Declares the specs for one runtime. */
export function runtimeSpecs(start: () => Promise<Subject>): void {
  let subject: Subject;
  const {signal} = new AbortController();
  const made: string[] = [];

  beforeAll(async () => {
    subject = await start();
  });
  afterEach(async () => {
    for (const id of made.splice(0)) await subject.during(subject.runtime.removePodSandbox(id, signal));
  });
  afterAll(async () => {
    await subject.close();
  });

  function aPod(network: NamespaceMode = NamespaceMode.POD): PodSandboxConfig {
    pods++;
    const metadata = {name: `pod-${pods}`, namespace: 'contract', uid: `uid-${process.pid}-${pods}`, attempt: 0};
    return PodSandboxConfig.fromPartial({
      metadata,
      logDirectory: subject.logDirectory === '' ? '' : `${subject.logDirectory}/${metadata.name}`,
      labels: {app: metadata.name, tier: 'test'},
      annotations: {note: 'kept'},
      linux: {securityContext: {namespaceOptions: {network, pid: NamespaceMode.CONTAINER}}},
    });
  }

  function aContainer(program: Program, more: Parameters<typeof ContainerConfig.fromPartial>[0] = {}): ContainerConfig {
    return ContainerConfig.fromPartial({
      metadata: {name: 'main', attempt: 0},
      image: {image: IMAGE},
      command: [...PROGRAMS[program]],
      labels: {container: 'main'},
      annotations: {hash: '42'},
      logPath: 'main/0.log',
      linux: {securityContext: {namespaceOptions: {pid: NamespaceMode.CONTAINER}}},
      ...more,
    });
  }

  async function run(config: PodSandboxConfig): Promise<string> {
    const id = await subject.during(subject.runtime.runPodSandbox(config, '', signal));
    made.push(id);
    return id;
  }

  async function startedContainer(program: Program, pod = aPod()): Promise<{sandbox: string; container: string}> {
    const sandbox = await run(pod);
    const container = await subject.runtime.createContainer(sandbox, aContainer(program), pod, signal);
    await subject.during(subject.runtime.startContainer(container, signal));
    return {sandbox, container};
  }

  async function refusal(call: Promise<unknown>): Promise<string> {
    const error = await subject.during(
      call.then(
        () => null,
        (caught: unknown) => caught as CriError,
      ),
    );
    return error === null ? 'no refusal' : error.code;
  }

  async function sandboxStatus(id: string): Promise<PodSandboxStatus> {
    const {status} = await subject.runtime.podSandboxStatus(id, signal);
    return status!;
  }

  async function containerStatus(id: string): Promise<ContainerStatus> {
    const {status} = await subject.runtime.containerStatus(id, signal);
    return status!;
  }

  /** Looks until the state is as wished; an exit shows a little later than it happens. */
  async function untilState(id: string, state: ContainerState): Promise<ContainerStatus> {
    const look = async (): Promise<ContainerStatus> => {
      for (;;) {
        const status = await containerStatus(id);
        if (status.state === state) return status;
        await new Promise(resolve => setImmediate(resolve));
      }
    };
    return subject.during(look());
  }

  async function eventsUntil(
    act: () => Promise<unknown>,
    last: (event: RuntimeEvent) => boolean,
  ): Promise<RuntimeEvent[]> {
    const controller = new AbortController();
    const stream = subject.runtime.events(controller.signal);
    const seen: RuntimeEvent[] = [];
    const collect = async (): Promise<void> => {
      for await (const event of stream) {
        seen.push(event);
        if (last(event)) return;
      }
    };
    const collecting = collect();
    await act();
    await subject.during(collecting);
    controller.abort(new Error('seen enough'));
    return seen;
  }

  describe('the runtime itself', () => {
    it('says its name, its version and that it speaks CRI v1', async () => {
      const version = await subject.runtime.version(signal);
      expect(version.runtimeApiVersion).toBe('v1');
      expect(version.runtimeName).not.toBe('');
      expect(version.runtimeVersion).toMatch(/^v?\d+\.\d+/);
    });

    it('says whether it and its network are ready', async () => {
      const {status} = await subject.runtime.status(signal);
      const conditions = Object.fromEntries(status!.conditions.map(one => [one.type, one.status]));
      expect(conditions).toMatchObject({RuntimeReady: true, NetworkReady: true});
    });

    it('says its cgroup driver, or that it cannot', async () => {
      const answer = await subject.runtime.runtimeConfig(signal).catch((error: unknown) => error as CriError);
      if ('code' in answer) expect(answer.code).toBe('UNIMPLEMENTED');
      else expect([0, 1]).toContain(answer.linux?.cgroupDriver);
    });
  });

  describe('a sandbox', () => {
    it('is ready when it was run, and is shown as it was asked for', async () => {
      const config = aPod();
      const id = await run(config);
      const status = await sandboxStatus(id);
      expect(status).toMatchObject({
        id,
        metadata: config.metadata,
        state: PodSandboxState.SANDBOX_READY,
        labels: config.labels,
        annotations: config.annotations,
      });
      expect(status.createdAt).toBeGreaterThan(10n ** 18n);
      const listed = await subject.runtime.listPodSandbox({id, state: undefined, labelSelector: {}}, signal);
      expect(listed).toHaveLength(1);
      expect(listed[0]).toMatchObject({
        id,
        metadata: config.metadata,
        state: PodSandboxState.SANDBOX_READY,
        createdAt: status.createdAt,
        labels: config.labels,
        annotations: config.annotations,
      });
    });

    it('has an address of its own', async () => {
      const [one, other] = [await run(aPod()), await run(aPod())];
      const ips = [(await sandboxStatus(one)).network?.ip, (await sandboxStatus(other)).network?.ip];
      expect(ips[0]).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      expect(ips[0]).not.toBe(ips[1]);
    });

    it('on the host network has no address', async () => {
      const status = await sandboxStatus(await run(aPod(NamespaceMode.NODE)));
      expect(status.network?.ip ?? '').toBe('');
      expect(status.linux?.namespaces?.options?.network).toBe(NamespaceMode.NODE);
    });

    it('without metadata is refused', async () => {
      const call = subject.runtime.runPodSandbox(PodSandboxConfig.fromPartial({}), '', signal);
      expect(await refusal(call)).toBe('UNKNOWN');
    });

    it('with a runtime handler that is not configured is refused, and leaves nothing', async () => {
      const config = aPod();
      expect(await refusal(subject.runtime.runPodSandbox(config, 'no-such-handler', signal))).toBe('UNKNOWN');
      const labelSelector = config.labels;
      const listed = await subject.runtime.listPodSandbox({id: '', state: undefined, labelSelector}, signal);
      expect(listed).toEqual([]);
      await run(config);
    });

    it('keeps its name, uid and attempt to itself until it is removed', async () => {
      const config = aPod();
      const id = await run(config);
      expect(await refusal(subject.runtime.runPodSandbox(config, '', signal))).toMatch(RESERVED);
      await subject.during(subject.runtime.stopPodSandbox(id, signal));
      expect(await refusal(subject.runtime.runPodSandbox(config, '', signal))).toMatch(RESERVED);
      const next = {...config, metadata: {...config.metadata!, attempt: 1}};
      expect(await run(next)).not.toBe(id);
      await subject.during(subject.runtime.removePodSandbox(id, signal));
      expect(await run(config)).not.toBe(id);
    });

    it('is not ready and has no address when it was stopped, however often', async () => {
      const id = await run(aPod());
      await subject.during(subject.runtime.stopPodSandbox(id, signal));
      await subject.during(subject.runtime.stopPodSandbox(id, signal));
      const status = await sandboxStatus(id);
      expect(status.state).toBe(PodSandboxState.SANDBOX_NOTREADY);
      expect(status.network?.ip ?? '').toBe('');
    });

    it('is gone when it was removed, however often, even if it was ready', async () => {
      const id = await run(aPod());
      await subject.during(subject.runtime.removePodSandbox(id, signal));
      await subject.during(subject.runtime.removePodSandbox(id, signal));
      expect(await refusal(subject.runtime.podSandboxStatus(id, signal))).toBe('NOT_FOUND');
    });

    it('that nobody knows has no status, and its stop is as the version has it', async () => {
      expect(await refusal(subject.runtime.podSandboxStatus(UNKNOWN_ID, signal))).toBe('NOT_FOUND');
      const stop = await refusal(subject.runtime.stopPodSandbox(UNKNOWN_ID, signal));
      expect(stop).toBe(subject.stopOfUnknown === 'succeeds' ? 'no refusal' : 'NOT_FOUND');
    });

    it('is found by the beginning of its id, by its state and by its labels', async () => {
      const config = aPod();
      const id = await run(config);
      const count = async (filter: {id?: string; state?: PodSandboxState; tier?: string}): Promise<number> => {
        const labelSelector = {app: config.labels['app']!, ...(filter.tier === undefined ? {} : {tier: filter.tier})};
        const state = filter.state === undefined ? undefined : {state: filter.state};
        return (await subject.runtime.listPodSandbox({id: filter.id ?? '', state, labelSelector}, signal)).length;
      };
      expect(await count({})).toBe(1);
      expect(await count({tier: 'test'})).toBe(1);
      expect(await count({tier: 'other'})).toBe(0);
      expect(await count({id: id.slice(0, -1)})).toBe(1);
      expect(await count({id: UNKNOWN_ID})).toBe(0);
      expect(await count({state: PodSandboxState.SANDBOX_READY})).toBe(1);
      expect(await count({state: PodSandboxState.SANDBOX_NOTREADY})).toBe(0);
    });
  });

  describe('a container', () => {
    it('is created, runs and is shown as it was asked for', async () => {
      const pod = aPod();
      const sandbox = await run(pod);
      const config = aContainer('obedient');
      const id = await subject.runtime.createContainer(sandbox, config, pod, signal);
      const created = await containerStatus(id);
      expect(created).toMatchObject({
        id,
        metadata: config.metadata,
        state: ContainerState.CONTAINER_CREATED,
        startedAt: 0n,
        finishedAt: 0n,
        exitCode: 0,
        reason: '',
        labels: config.labels,
        annotations: config.annotations,
        logPath: pod.logDirectory === '' ? '' : `${pod.logDirectory}/main/0.log`,
      });
      expect(created.image?.image).toBe(IMAGE);
      await subject.during(subject.runtime.startContainer(id, signal));
      const running = await containerStatus(id);
      expect(running.state).toBe(ContainerState.CONTAINER_RUNNING);
      expect(running.createdAt).toBe(created.createdAt);
      expect(running.startedAt).toBeGreaterThanOrEqual(running.createdAt);
      const filter = {id: '', state: undefined, podSandboxId: sandbox, labelSelector: {}};
      const listed = await subject.runtime.listContainers(filter, signal);
      expect(listed).toHaveLength(1);
      expect(listed[0]).toMatchObject({
        id,
        podSandboxId: sandbox,
        metadata: config.metadata,
        state: ContainerState.CONTAINER_RUNNING,
        createdAt: created.createdAt,
        labels: config.labels,
        annotations: config.annotations,
      });
    });

    it('cannot be created in a sandbox that is unknown, and not created or not started in a stopped one', async () => {
      const pod = aPod();
      const create = (id: string): Promise<string> =>
        subject.runtime.createContainer(id, aContainer('obedient'), pod, signal);
      expect(await refusal(create(UNKNOWN_ID))).toBe('NOT_FOUND');
      const sandbox = await run(pod);
      await subject.during(subject.runtime.stopPodSandbox(sandbox, signal));
      const createAndStart = async (): Promise<void> => subject.runtime.startContainer(await create(sandbox), signal);
      expect(await refusal(createAndStart())).toMatch(/^(NOT_FOUND|UNKNOWN)$/);
    });

    it('cannot be created without metadata, without an image, or with one that is not there', async () => {
      const pod = aPod();
      const sandbox = await run(pod);
      const create = (config: ContainerConfig): Promise<string> =>
        subject.runtime.createContainer(sandbox, config, pod, signal);
      const config = aContainer('obedient');
      expect(await refusal(create({...config, metadata: undefined}))).toBe('UNKNOWN');
      expect(await refusal(create({...config, image: undefined}))).toBe('UNKNOWN');
      expect(await refusal(create(aContainer('obedient', {image: {image: 'no-such-image:1'}})))).toBe('NOT_FOUND');
      const filter = {id: '', state: undefined, podSandboxId: sandbox, labelSelector: {}};
      expect(await subject.runtime.listContainers(filter, signal)).toEqual([]);
    });

    it('keeps its name and attempt to itself until it is removed', async () => {
      const pod = aPod();
      const {sandbox, container} = await startedContainer('obedient', pod);
      const create = (attempt: number): Promise<string> => {
        const config = aContainer('obedient', {metadata: {name: 'main', attempt}});
        return subject.runtime.createContainer(sandbox, config, pod, signal);
      };
      expect(await refusal(create(0))).toMatch(RESERVED);
      await subject.during(subject.runtime.stopContainer(container, 10, signal));
      expect(await refusal(create(0))).toMatch(RESERVED);
      expect(await create(1)).not.toBe(container);
      await subject.during(subject.runtime.removeContainer(container, signal));
      expect(await create(0)).not.toBe(container);
    });

    it('is started once', async () => {
      const {container} = await startedContainer('obedient');
      expect(await refusal(subject.runtime.startContainer(container, signal))).toBe('UNKNOWN');
      await subject.during(subject.runtime.stopContainer(container, 10, signal));
      expect(await refusal(subject.runtime.startContainer(container, signal))).toBe('UNKNOWN');
      expect(await refusal(subject.runtime.startContainer(UNKNOWN_ID, signal))).toBe('NOT_FOUND');
    });

    it('that cannot be started has exited with 128 and says why', async () => {
      const pod = aPod();
      const sandbox = await run(pod);
      const id = await subject.runtime.createContainer(sandbox, aContainer('missing'), pod, signal);
      expect(await refusal(subject.runtime.startContainer(id, signal))).toMatch(/^(UNKNOWN|NOT_FOUND)$/);
      const status = await untilState(id, ContainerState.CONTAINER_EXITED);
      expect(status).toMatchObject({exitCode: 128, reason: 'StartError', startedAt: 0n});
      expect(status.message).toContain('/no/such/program');
      expect(status.finishedAt).toBeGreaterThanOrEqual(status.createdAt);
    });

    it('of a stopped sandbox cannot be started', async () => {
      const pod = aPod();
      const sandbox = await run(pod);
      const id = await subject.runtime.createContainer(sandbox, aContainer('obedient'), pod, signal);
      await subject.during(subject.runtime.stopPodSandbox(sandbox, signal));
      expect(await refusal(subject.runtime.startContainer(id, signal))).toBe('UNKNOWN');
      expect((await containerStatus(id)).state).toBe(ContainerState.CONTAINER_EXITED);
    });

    it.for([
      ['succeeds', 0, 'Completed'],
      ['fails', 3, 'Error'],
    ] as const)('that %s exits with %i and is %s', async ([program, exitCode, reason]) => {
      const {container} = await startedContainer(program);
      const status = await untilState(container, ContainerState.CONTAINER_EXITED);
      expect(status).toMatchObject({exitCode, reason});
      // Not of startedAt: containerd takes that time when the start returns, and a short process may have ended by then.
      expect(status.finishedAt).toBeGreaterThan(status.createdAt);
    });

    it('that obeys the stop signal exits with its own code', async () => {
      const {container} = await startedContainer('obedient');
      await subject.during(subject.runtime.execSync(container, UNTIL_OBEDIENT, 10, signal));
      await subject.during(subject.runtime.stopContainer(container, 10, signal));
      const status = await containerStatus(container);
      expect(status).toMatchObject({state: ContainerState.CONTAINER_EXITED, exitCode: 7, reason: 'Error'});
    });

    it('that ignores the stop signal is killed when the timeout is over', async () => {
      const {container} = await startedContainer('stubborn');
      await subject.during(subject.runtime.stopContainer(container, 1, signal));
      const status = await containerStatus(container);
      expect(status).toMatchObject({state: ContainerState.CONTAINER_EXITED, exitCode: 137});
    });

    it('is killed at once by a stop without timeout', async () => {
      const {container} = await startedContainer('obedient');
      await subject.during(subject.runtime.stopContainer(container, 0, signal));
      expect((await containerStatus(container)).exitCode).toBe(137);
    });

    it('may be stopped before its start and after its end', async () => {
      const pod = aPod();
      const sandbox = await run(pod);
      const id = await subject.runtime.createContainer(sandbox, aContainer('succeeds'), pod, signal);
      await subject.during(subject.runtime.stopContainer(id, 10, signal));
      expect((await containerStatus(id)).state).toBe(ContainerState.CONTAINER_CREATED);
      await subject.during(subject.runtime.startContainer(id, signal));
      await untilState(id, ContainerState.CONTAINER_EXITED);
      await subject.during(subject.runtime.stopContainer(id, 10, signal));
      expect((await containerStatus(id)).exitCode).toBe(0);
    });

    it('that nobody knows has no status, its removal succeeds, and its stop is as the version has it', async () => {
      expect(await refusal(subject.runtime.containerStatus(UNKNOWN_ID, signal))).toBe('NOT_FOUND');
      await subject.runtime.removeContainer(UNKNOWN_ID, signal);
      const stop = await refusal(subject.runtime.stopContainer(UNKNOWN_ID, 1, signal));
      expect(stop).toBe(subject.stopOfUnknown === 'succeeds' ? 'no refusal' : 'NOT_FOUND');
    });

    it('that runs is killed and gone when it is removed', async () => {
      const {container} = await startedContainer('stubborn');
      await subject.during(subject.runtime.removeContainer(container, signal));
      await subject.during(subject.runtime.removeContainer(container, signal));
      expect(await refusal(subject.runtime.containerStatus(container, signal))).toBe('NOT_FOUND');
    });

    it('is killed by the stop of its sandbox, and goes with it', async () => {
      const {sandbox, container} = await startedContainer('obedient');
      await subject.during(subject.runtime.stopPodSandbox(sandbox, signal));
      const status = await containerStatus(container);
      expect(status).toMatchObject({state: ContainerState.CONTAINER_EXITED, exitCode: 137});
      await subject.during(subject.runtime.removePodSandbox(sandbox, signal));
      expect(await refusal(subject.runtime.containerStatus(container, signal))).toBe('NOT_FOUND');
    });

    it('is found by sandbox, state and labels', async () => {
      const {sandbox, container} = await startedContainer('obedient');
      const count = async (state: ContainerState | undefined, label: string): Promise<number> => {
        const filter = {
          id: container.slice(0, -1),
          state: state === undefined ? undefined : {state},
          podSandboxId: sandbox,
          labelSelector: {container: label},
        };
        return (await subject.runtime.listContainers(filter, signal)).length;
      };
      expect(await count(undefined, 'main')).toBe(1);
      expect(await count(undefined, 'other')).toBe(0);
      expect(await count(ContainerState.CONTAINER_RUNNING, 'main')).toBe(1);
      expect(await count(ContainerState.CONTAINER_EXITED, 'main')).toBe(0);
    });

    it('has its log reopened while it runs, and only then', async () => {
      const {container} = await startedContainer('obedient');
      await subject.runtime.reopenContainerLog(container, signal);
      await subject.during(subject.runtime.stopContainer(container, 10, signal));
      expect(await refusal(subject.runtime.reopenContainerLog(container, signal))).toBe('UNKNOWN');
    });

    it('that runs has statistics', async () => {
      const {container} = await startedContainer('obedient');
      const stats = await subject.runtime.containerStats(container, signal);
      expect(stats?.attributes).toMatchObject({id: container, metadata: {name: 'main', attempt: 0}});
      const all = await subject.runtime.listContainerStats(signal);
      expect(all.map(one => one.attributes?.id)).toContain(container);
      expect(await refusal(subject.runtime.containerStats(UNKNOWN_ID, signal))).toMatch(/^(NOT_FOUND|UNKNOWN)$/);
    });
  });

  describe('a command in a container', () => {
    it('answers with its exit code and what it wrote', async () => {
      const {container} = await startedContainer('obedient');
      const cmd = ['sh', '-c', 'echo out; echo err >&2; exit 3'];
      const result = await subject.runtime.execSync(container, cmd, 10, signal);
      expect(result.exitCode).toBe(3);
      expect(Buffer.from(result.stdout).toString()).toBe('out\n');
      expect(Buffer.from(result.stderr).toString()).toBe('err\n');
    });

    it('that takes too long is late, and the container goes on', async () => {
      const {container} = await startedContainer('obedient');
      expect(await refusal(subject.runtime.execSync(container, ['sleep', '60'], 1, signal))).toBe('DEADLINE_EXCEEDED');
      expect((await containerStatus(container)).state).toBe(ContainerState.CONTAINER_RUNNING);
    });

    it('that does not exist is refused', async () => {
      const {container} = await startedContainer('obedient');
      const code = await refusal(subject.runtime.execSync(container, ['/no/such/program'], 10, signal));
      expect(code).toMatch(/^(UNKNOWN|NOT_FOUND)$/);
    });

    it('needs a container that runs', async () => {
      const {container} = await startedContainer('succeeds');
      await untilState(container, ContainerState.CONTAINER_EXITED);
      expect(await refusal(subject.runtime.execSync(container, ['true'], 10, signal))).toBe('UNKNOWN');
      expect(await refusal(subject.runtime.execSync(UNKNOWN_ID, ['true'], 10, signal))).toBe('NOT_FOUND');
    });

    it('ends with the reason of its signal', async () => {
      const {container} = await startedContainer('obedient');
      const controller = new AbortController();
      const call = subject.runtime.execSync(container, ['sleep', '60'], 0, controller.signal);
      controller.abort(new Error('no longer wanted'));
      await expect(call).rejects.toThrow('no longer wanted');
    });

    it('can be streamed: the runtime answers with a URL', async () => {
      const {sandbox, container} = await startedContainer('obedient');
      const streams = {stdin: false, stdout: true, stderr: true, tty: false};
      expect(await subject.runtime.exec(container, ['sh'], streams, signal)).toMatch(/^http:\/\//);
      expect(await subject.runtime.attach(container, streams, signal)).toMatch(/^http:\/\//);
      expect(await subject.runtime.portForward(sandbox, [80], signal)).toMatch(/^http:\/\//);
    });

    it('cannot be streamed without a stream, nor with a terminal and stderr', async () => {
      const {container} = await startedContainer('obedient');
      const none = {stdin: false, stdout: false, stderr: false, tty: false};
      const both = {stdin: false, stdout: true, stderr: true, tty: true};
      expect(await refusal(subject.runtime.exec(container, ['sh'], none, signal))).toBe('INVALID_ARGUMENT');
      expect(await refusal(subject.runtime.attach(container, both, signal))).toBe('INVALID_ARGUMENT');
    });
  });

  describe('events', () => {
    it('tell how a container ended', async () => {
      let container = '';
      const seen = await eventsUntil(
        async () => {
          const pod = aPod();
          container = await subject.runtime.createContainer(await run(pod), aContainer('fails'), pod, signal);
          await subject.during(subject.runtime.startContainer(container, signal));
        },
        event => event.type === 'exited' && event.id === container,
      );
      const own = seen.filter(event => event.id === container);
      expect(own.map(event => event.type).filter(isEnd)).toEqual(['exited']);
      const status = await untilState(container, ContainerState.CONTAINER_EXITED);
      expect(own.at(-1)).toMatchObject({exitCode: 3, at: Number(status.finishedAt / 1_000_000n)});
    });

    it('and status tell that a container was killed for want of memory', async () => {
      let container = '';
      // In either order: of the two the runtime hears on different ways.
      const awaited = new Set<string>(subject.tellsOOM ? ['oom', 'exited'] : ['exited']);
      const seen = await eventsUntil(
        async () => {
          const pod = aPod();
          const sandbox = await run(pod);
          const limits = {resources: {memoryLimitInBytes: 16n * 1024n * 1024n}};
          const config = aContainer('hungry', {linux: limits});
          container = await subject.runtime.createContainer(sandbox, config, pod, signal);
          await subject.during(subject.runtime.startContainer(container, signal));
        },
        event => event.id === container && awaited.delete(event.type) && awaited.size === 0,
      );
      const exit = seen.find(event => event.id === container && event.type === 'exited');
      expect(exit).toMatchObject({exitCode: 137});
      const status = await untilState(container, ContainerState.CONTAINER_EXITED);
      expect(status).toMatchObject({exitCode: 137, reason: 'OOMKilled'});
    });

    it('tell that a sandbox ended', async () => {
      let sandbox = '';
      const seen = await eventsUntil(
        async () => {
          sandbox = await run(aPod());
          await subject.during(subject.runtime.stopPodSandbox(sandbox, signal));
        },
        event => event.type === 'exited' && event.id === sandbox,
      );
      const types = seen.filter(event => event.id === sandbox).map(event => event.type);
      expect(types.filter(isEnd)).toEqual(['exited']);
    });

    it('do not tell of commands that end in a container', async () => {
      const {container} = await startedContainer('obedient');
      const seen = await eventsUntil(
        async () => {
          await subject.runtime.execSync(container, ['sh', '-c', 'echo out; echo err >&2; exit 3'], 10, signal);
          await subject.during(subject.runtime.stopContainer(container, 10, signal));
        },
        event => event.type === 'exited',
      );
      expect(seen.filter(event => event.type === 'exited')).toMatchObject([{id: container, exitCode: 7}]);
    });

    it('end with the reason of their signal', async () => {
      const controller = new AbortController();
      const next = subject.runtime.events(controller.signal)[Symbol.asyncIterator]().next();
      controller.abort(new Error('no longer wanted'));
      await expect(next).rejects.toThrow('no longer wanted');
    });
  });

  describe('images', () => {
    it('that are there are listed, and found by every name they have', async () => {
      const listed = (await subject.images.listImages(signal)).find(image => image.repoTags.includes(IMAGE));
      expect(listed?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(listed?.size).toBeGreaterThan(0n);
      for (const name of [IMAGE, 'busybox:1.36', listed!.id]) {
        expect((await subject.images.imageStatus(name, signal)).image?.id).toBe(listed!.id);
      }
    });

    it('that are not there have no status', async () => {
      expect((await subject.images.imageStatus('no-such-image:1', signal)).image).toBeUndefined();
      expect((await subject.images.imageStatus('Not//a reference', signal)).image).toBeUndefined();
    });

    it('that are not there may be removed', async () => {
      await subject.images.removeImage('no-such-image:1', signal);
    });

    it('cannot be pulled by a name that is none', async () => {
      expect(await refusal(subject.images.pullImage('Not//a reference', undefined, undefined, signal))).toMatch(
        /^(UNKNOWN|INVALID_ARGUMENT)$/,
      );
    });

    it('use disk space somewhere', async () => {
      const [usage] = await subject.images.imageFsInfo(signal);
      expect(usage?.fsId?.mountpoint).toMatch(/^\//);
    });
  });
}
