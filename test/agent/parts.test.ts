// The small parts that hold the agent's memory.
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {CrashLoopTable} from '../../src/agent/crash-loop.js';
import {EventRecorder} from '../../src/agent/event-recorder.js';
import {ObjectStore} from '../../src/agent/object-store.js';
import {emptyStatus, PodCache} from '../../src/agent/pod-cache.js';
import {ReasonCache} from '../../src/agent/reason-cache.js';
import {SavedStatuses} from '../../src/agent/saved-statuses.js';
import {StatusManager} from '../../src/agent/status-manager.js';
import {post, type LoopEvent} from '../../src/agent/sync-loop.js';
import {createSupervisor} from '../../src/agent/supervisor.js';
import type {AgentEvent} from '../../src/core/events.js';
import {runtimePodFromStatus} from '../../src/core/pleg.js';
import {podRef} from '../../src/core/pod/types.js';
import {createRecordStore, type StatusRecord} from '../../src/host/record-store.js';
import {silentLogger} from '../../src/lib/logger.js';
import {Mailbox} from '../../src/lib/mailbox.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {aPod, aPodStatus, exited, running, T0, withInstance} from '../support/builders.js';

const pod = aPod();
const ref = podRef(pod);
const {uid} = pod.metadata;

describe('StatusManager', () => {
  it('publishes only what is new', () => {
    const reported: AgentEvent[] = [];
    const statuses = new StatusManager({
      clock: new FakeClock(T0),
      report: event => reported.push(event),
      onChange: () => undefined,
    });
    statuses.set(pod, {phase: 'Pending'});
    statuses.set(pod, {phase: 'Pending'});
    statuses.set(pod, {phase: 'Running'});
    expect(reported.map(event => event.kind === 'status' && event.status.phase)).toEqual(['Pending', 'Running']);
    expect(statuses.get(uid)).toEqual({phase: 'Running', startTime: '2026-03-01T12:00:00Z'});
    statuses.keepOnly(new Set());
    expect(statuses.get(uid)).toBeUndefined();
  });
});

describe('ReasonCache', () => {
  it('remembers why a container did not start until it does', () => {
    const reasons = new ReasonCache();
    const error = {reason: 'ErrImagePull', message: 'not found'} as const;
    reasons.update(uid, {results: [{action: 'StartContainer', target: 'main', error}], syncError: null});
    expect(reasons.get(uid).get('main')).toEqual(error);
    reasons.update(uid, {results: [{action: 'StartContainer', target: 'main', error: null}], syncError: null});
    expect(reasons.get(uid).size).toBe(0);
  });
});

describe('CrashLoopTable', () => {
  const [container] = pod.spec.containers;

  it('goes on where an earlier process was', () => {
    const status = aPodStatus(
      pod,
      exited('main', 1, {restartCount: 2, createdAt: T0, finishedAt: T0 + 10_000}),
      exited('main', 1, {restartCount: 3, createdAt: T0 + 30_000, finishedAt: T0 + 31_000}),
    );
    const table = new CrashLoopTable(300_000);
    expect(table.check(pod, container!, status, T0 + 40_000)).toMatchObject({retryAt: T0 + 71_000});
    expect(table.check(pod, container!, status, T0 + 71_001)).toBeNull();
  });

  it('owes a container of its own no wait for the first restart', () => {
    const table = new CrashLoopTable(300_000);
    expect(table.check(pod, container!, emptyStatus(ref), T0)).toBeNull();
    expect(table.check(pod, container!, aPodStatus(pod, exited('main', 1)), T0 + 6000)).toBeNull();
    const second = aPodStatus(
      pod,
      exited('main', 1),
      withInstance('main', {restartCount: 1, state: 'exited', finishedAt: T0 + 7000}),
    );
    expect(table.check(pod, container!, second, T0 + 7500)).toMatchObject({retryAt: T0 + 17_000});
  });
});

describe('EventRecorder', () => {
  function record(recorder: EventRecorder, message: string, at: number): void {
    recorder.record({kind: 'recorded', at, pod: ref, type: 'Warning', reason: 'BackOff', message});
  }

  it('counts equal events', () => {
    const recorder = new EventRecorder();
    record(recorder, 'again', 1);
    record(recorder, 'again', 5);
    expect(recorder.list()).toMatchObject([{message: 'again', count: 2, firstAt: 1, lastAt: 5}]);
  });

  it('folds a flood of similar ones', () => {
    const recorder = new EventRecorder();
    for (let index = 0; index < 30; index++) record(recorder, `try ${index}`, index);
    const last = recorder.list().at(-1);
    expect(recorder.list().length).toBe(10);
    expect(last).toMatchObject({message: '(combined from similar events): try 29', count: 21});
  });

  it('keeps no more than a ring', () => {
    const recorder = new EventRecorder();
    for (let index = 0; index < 1200; index++) record(recorder, `hourly ${index}`, index * 3_600_000);
    expect(recorder.list().length).toBe(1000);
    expect(recorder.list()[0]?.message).toBe('hourly 200');
  });
});

describe('SavedStatuses', () => {
  const clock = new FakeClock();
  const savedIn = (dir: string) =>
    new SavedStatuses({store: createRecordStore(path.join(dir, 'statuses.journal')), clock, logger: silentLogger});

  function aDirectory(): string {
    const dir = mkdtempSync(path.join(tmpdir(), 'saved-'));
    onTestFinished(() => rmSync(dir, {recursive: true, force: true}));
    return dir;
  }

  /** One that shows what it writes. */
  function watched(): {readonly saved: SavedStatuses; readonly written: readonly unknown[]} {
    const written: unknown[] = [];
    const store = {
      ...createRecordStore<StatusRecord>(path.join(aDirectory(), 'statuses.journal')),
      change: (entries: readonly {readonly value: StatusRecord | undefined}[]) =>
        Promise.resolve(void written.push(...entries.map(({value}) => value?.status))),
    };
    return {saved: new SavedStatuses({store, clock, logger: silentLogger}), written};
  }

  it('gives back to the next process what this one saved last', async () => {
    const dir = aDirectory();
    const saved = savedIn(dir);
    const runtimeStatus = aPodStatus(pod, running('main'));
    for (const phase of ['Pending', 'Running']) saved.put(uid, {status: {phase}, runtimeStatus});
    saved.put('gone', {status: {phase: 'Running'}, runtimeStatus: null});
    saved.delete('gone');
    await saved.flush();
    const next = savedIn(dir);
    await next.load();
    expect([...next.statuses]).toEqual([[uid, {phase: 'Running'}]]);
    expect(next.runtimeStatus(uid)).toEqual(runtimeStatus);
  });

  it('keeps nothing of pods that are gone, whoever saved it', async () => {
    const dir = aDirectory();
    const earlier = savedIn(dir);
    for (const key of ['kept', 'old']) earlier.put(key, {status: {phase: 'Running'}, runtimeStatus: null});
    await earlier.flush();
    const saved = savedIn(dir);
    await saved.load();
    saved.put('new', {status: {phase: 'Running'}, runtimeStatus: null});
    saved.keepOnly(new Set(['kept']));
    await saved.flush();
    const next = savedIn(dir);
    await next.load();
    expect([...next.statuses.keys()]).toEqual(['kept']);
  });

  it('writes once what changes several times in a row, and waits for nothing when it is told to end', async () => {
    const {saved, written} = watched();
    for (const phase of ['Pending', 'Running']) saved.put(uid, {status: {phase}, runtimeStatus: null});
    expect(written).toEqual([]);
    await clock.advance(1000);
    expect(written).toEqual([{phase: 'Running'}]);
    saved.put(uid, {status: {phase: 'Succeeded'}, runtimeStatus: null});
    await saved.flush();
    expect(written).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('writes those of many pods, a hundred at once, and what changes meanwhile, too', async () => {
    const dir = aDirectory();
    const store = createRecordStore<StatusRecord>(path.join(dir, 'statuses.journal'));
    const batches: number[] = [];
    const saved: SavedStatuses = new SavedStatuses({
      store: {
        ...store,
        change(entries) {
          if (batches.length === 0) saved.put('pod-0', {status: {phase: 'Failed'}, runtimeStatus: null});
          batches.push(entries.length);
          return store.change(entries);
        },
      },
      clock,
      logger: silentLogger,
    });
    for (let n = 0; n < 250; n++) saved.put(`pod-${n}`, {status: {phase: 'Running'}, runtimeStatus: null});
    await saved.flush();
    expect(batches).toEqual([100, 100, 50]);
    await saved.flush();
    const next = savedIn(dir);
    await next.load();
    expect(next.statuses.size).toBe(250);
    expect(next.statuses.get('pod-0')).toEqual({phase: 'Failed'});
  });

  it('waits for a status to stay as it is, but not for ever', async () => {
    const {saved, written} = watched();
    const change = async (message: string): Promise<void> => {
      saved.put(uid, {status: {message}, runtimeStatus: null});
      await clock.advance(300);
    };
    for (let times = 0; times < 16; times++) await change('flaps');
    expect(written).toEqual([]);
    await change('one');
    await change('two');
    expect(written).toHaveLength(1);
    await clock.advance(1000);
    expect(written.at(-1)).toEqual({message: 'two'});
    await clock.advance(1000);
    expect(written).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes a damaged record for none, and lives with a disk that takes nothing', async () => {
    const dir = aDirectory();
    const saved = savedIn(dir);
    saved.put(uid, {status: {phase: 'Running'}, runtimeStatus: null});
    await saved.flush();
    writeFileSync(path.join(dir, 'statuses.journal'), `"${uid}"\t{"status":`);
    const next = savedIn(dir);
    await next.load();
    expect(next.statuses.size).toBe(0);
    const nowhere = savedIn(path.join(dir, 'statuses.journal'));
    nowhere.put(uid, {status: {}, runtimeStatus: null});
    await nowhere.flush();
  });
});

describe('PodCache', () => {
  const status = aPodStatus(pod, running('main'));
  const listed = runtimePodFromStatus(status);

  it('knows of a pod that a list does not show that there is nothing of it', () => {
    const cache = new PodCache();
    expect(cache.statusNewerThan(ref, 0)).toBeUndefined();
    cache.setList([], cache.moment());
    expect(cache.statusNewerThan(ref, -Infinity)).toEqual(emptyStatus(ref));
  });

  it('vouches for a status as long as lists show the same', () => {
    const cache = new PodCache();
    cache.setStatus(status, cache.moment());
    const since = cache.moment();
    expect(cache.statusNewerThan(ref, since)).toBeUndefined();
    cache.setList([listed], cache.moment());
    expect(cache.statusNewerThan(ref, since)).toBe(status);
  });

  it('does not let an older list undo a newer status', () => {
    const cache = new PodCache();
    cache.setList([listed], cache.moment());
    const before = cache.moment();
    cache.setStatus(aPodStatus(pod, exited('main')), cache.moment());
    expect(cache.setList([listed], before)).toEqual([]);
    expect(cache.pod(uid)?.containers[0]?.state).toBe('exited');
  });

  it('adopts a saved status only if the list bears it out', () => {
    const cache = new PodCache();
    cache.setList([listed], cache.moment());
    cache.adopt(aPodStatus(pod, exited('main')));
    expect(cache.statusNewerThan(ref, -Infinity)).toBeUndefined();
    cache.adopt(status);
    expect(cache.statusNewerThan(ref, -Infinity)).toBe(status);
  });

  it('shows an exit at once, waits for the runtime to admit it, and remembers one of a container not known yet', () => {
    const cache = new PodCache();
    const exit = {id: 'main-0', at: T0, exitCode: 0, outOfMemory: false};
    expect(cache.addExit(exit)).toEqual([]);
    expect(cache.setStatus(status, cache.moment())).toContainEqual({uid, type: 'ContainerDied', id: 'main-0'});
    expect(cache.status(ref).containers[0]?.state).toBe('exited');
    expect(cache.awaitsRuntime(uid)).toBe(true);
    expect(cache.confirmedStatus(uid)).toBeUndefined();
    const admitted = aPodStatus(pod, exited('main'));
    cache.setStatus(admitted, cache.moment());
    expect(cache.awaitsRuntime(uid)).toBe(false);
    expect(cache.confirmedStatus(uid)).toBe(admitted);
  });

  it('does not forget the exit of a short run that it has seen no more of than the creation', () => {
    const cache = new PodCache();
    const created = {
      ...status,
      containers: status.containers.map(container => ({...container, state: 'created' as const})),
    };
    cache.setStatus(created, cache.moment());
    cache.addExit({id: 'main-0', at: T0, exitCode: 0, outOfMemory: false});
    expect(cache.awaitsRuntime(uid)).toBe(true);
    cache.setStatus(created, cache.moment());
    expect(cache.setStatus(status, cache.moment())).toEqual([{uid, type: 'ContainerDied', id: 'main-0'}]);
    expect(cache.status(ref).containers[0]?.state).toBe('exited');
  });
});

describe('ObjectStore', () => {
  const companions = {configMaps: [], runtimeClasses: []};

  it('tells whether anything has changed, and which pull secrets there are not', () => {
    const store = new ObjectStore();
    const secret = {metadata: {name: 'reg'}, data: {}};
    const snapshot = {source: 'file', pods: [], problems: [], companions: {...companions, secrets: [secret]}};
    expect(store.replace([snapshot])).toBe(true);
    expect(store.replace([structuredClone(snapshot)])).toBe(false);
    const asking = {...pod, spec: {...pod.spec, imagePullSecrets: [{name: 'reg'}, {name: 'none'}]}};
    expect(store.pullSecrets(asking)).toEqual({secrets: [secret], missing: ['none']});
  });
});

describe('a supervisor', () => {
  it('waits for its tasks and takes their abort for no failure', async () => {
    const supervisor = createSupervisor(new AbortController().signal);
    let ended = false;
    supervisor.run(async () => {
      await new Promise(resolve => supervisor.signal.addEventListener('abort', resolve, {once: true}));
      ended = true;
      throw supervisor.signal.reason;
    });
    await supervisor.stop();
    expect(ended).toBe(true);
  });

  it('stops everything for a bug, and tells it', async () => {
    const supervisor = createSupervisor(new AbortController().signal);
    supervisor.run(() => Promise.reject(new TypeError('undefined is not a function')));
    await new Promise(resolve => supervisor.signal.addEventListener('abort', resolve, {once: true}));
    await expect(supervisor.stop()).rejects.toThrow('undefined is not a function');
  });
});

describe('the inbox of the loop', () => {
  it('has a pod synced once for all of its containers that have started, and keeps each end apart', () => {
    const inbox = new Mailbox<LoopEvent>();
    const tell = (type: 'ContainerStarted' | 'ContainerDied', id: string): void =>
      post(inbox, {channel: 'pleg', event: {uid, type, id}});
    tell('ContainerStarted', 'sandbox');
    tell('ContainerStarted', 'main');
    expect(inbox.size).toBe(1);
    tell('ContainerDied', 'first');
    tell('ContainerDied', 'second');
    expect(inbox.size).toBe(3);
  });
});
