import {describe, expect, it} from 'vitest';
import type {ObservedPod} from '../../../src/agent/agent.js';
import {
  notifyServiceManager,
  serviceState,
  takeServiceManager,
  type ServiceState,
} from '../../../src/cli/watch/systemd-notify.js';
import {HostError} from '../../../src/core/errors.js';
import type {PodStatus} from '../../../src/core/pod/types.js';
import {createLogger, type LogRecord} from '../../../src/lib/logger.js';
import {A_VIEW, PlayedAgent} from '../../api/world.js';
import {FakeClock, settle} from '../../fakes/fake-clock.js';
import {aPod} from '../../support/builders.js';

describe('takeServiceManager', () => {
  const pid = 42;

  it.for([
    ['nobody listens', {}, null],
    ['the name is empty', {NOTIFY_SOCKET: ''}, null],
    ['systemd listens', {NOTIFY_SOCKET: '/run/n'}, {socket: '/run/n', watchdogMs: null}],
    [
      'it waits for signs of life',
      {NOTIFY_SOCKET: '@n', WATCHDOG_USEC: '60000000'},
      {socket: '@n', watchdogMs: 60_000},
    ],
    [
      '... of this process',
      {NOTIFY_SOCKET: '@n', WATCHDOG_USEC: '5000', WATCHDOG_PID: '42'},
      {socket: '@n', watchdogMs: 5},
    ],
    [
      '... of another process',
      {NOTIFY_SOCKET: '@n', WATCHDOG_USEC: '5000', WATCHDOG_PID: '41'},
      {socket: '@n', watchdogMs: null},
    ],
    ['its period is no number', {NOTIFY_SOCKET: '@n', WATCHDOG_USEC: 'soon'}, {socket: '@n', watchdogMs: null}],
  ] as const)('%s', ([, variables, want]) => {
    const env: NodeJS.ProcessEnv = {...variables, PATH: '/bin'};
    expect(takeServiceManager(env, pid)).toEqual(want);
    expect(env).toEqual({PATH: '/bin'});
  });
});

describe('serviceState', () => {
  const observed = (status: PodStatus): ObservedPod => ({pod: aPod(), status, source: ''});

  it('is not ready before the agent has started and every source has delivered', () => {
    const agent = new PlayedAgent();
    agent.now = null;
    expect(serviceState(agent)).toEqual({ready: false, alive: false, status: 'waiting for the sources of pods'});
    agent.now = {...A_VIEW, sourcesReady: false};
    expect(serviceState(agent)).toMatchObject({ready: false, alive: true});
  });

  it('counts the pods that are up, and says what is wrong', () => {
    const agent = new PlayedAgent();
    agent.observed = [
      observed({phase: 'Running', conditions: [{type: 'Ready', status: 'True'}]}),
      observed({phase: 'Running', conditions: [{type: 'Ready', status: 'False'}]}),
      observed({phase: 'Succeeded', conditions: [{type: 'Ready', status: 'False'}]}),
    ];
    expect(serviceState(agent)).toEqual({ready: true, alive: true, status: '2 of 3 pods up'});
    const broken = {type: 'Syntax', path: '', detail: 'x', severity: 'error', position: {file: '/a.yaml'}} as const;
    agent.problems = [{component: 'pleg', message: 'pleg has yet to be successful'}];
    agent.now = {...A_VIEW, sourceProblems: [broken, broken, {...broken, severity: 'warning', position: {file: '/b'}}]};
    expect(serviceState(agent).status).toBe(
      '2 of 3 pods up; broken manifests: 1; PLEG is not healthy: pleg has yet to be successful',
    );
  });

  it('is alive as long as the loop turns, whatever the runtime does', () => {
    const agent = new PlayedAgent();
    agent.problems = [{component: 'runtime', message: 'connection refused'}];
    expect(serviceState(agent).alive).toBe(true);
    agent.now = {...A_VIEW, idleMs: 10_001};
    expect(serviceState(agent).alive).toBe(false);
  });
});

describe('notifyServiceManager', () => {
  interface Told {
    readonly at: number;
    readonly assignments: readonly string[];
  }

  function telling(watchdogMs: number | null, refuse: () => Error | null = () => null) {
    const clock = new FakeClock();
    const told: Told[] = [];
    const logged: LogRecord[] = [];
    const stop = new AbortController();
    const state = {now: {ready: false, alive: true, status: 'waiting'} as ServiceState};
    const deps = {
      manager: {socket: '/run/n', watchdogMs},
      state: () => state.now,
      clock,
      logger: createLogger(record => logged.push(record)),
      send(_socket: string, assignments: readonly string[]) {
        const error = refuse();
        if (error !== null) return Promise.reject(error);
        told.push({at: clock.monotonic(), assignments});
        return Promise.resolve();
      },
    };
    const done = notifyServiceManager(deps, stop.signal);
    return {clock, told, logged, stop, state, done};
  }

  it('says READY once, STATUS when it changes, and STOPPING at the end', async () => {
    const {clock, told, stop, state, done} = telling(null);
    await clock.advance(1000);
    state.now = {ready: true, alive: true, status: '1 of 1\npods up'};
    await clock.advance(30_000);
    state.now = {ready: false, alive: true, status: 'waiting'};
    await clock.advance(10_000);
    state.now = {ready: true, alive: true, status: 'waiting'};
    await clock.advance(10_000);
    stop.abort(new Error('over'));
    await done;
    expect(told.map(({assignments}) => assignments)).toEqual([
      ['STATUS=waiting'],
      ['READY=1', 'STATUS=1 of 1 pods up'],
      ['STATUS=waiting'],
      ['STOPPING=1', 'STATUS=stopping'],
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.for([
    ['a short watchdog', 2000],
    ['a watchdog of a minute', 60_000],
    ['one that is no multiple of anything', 33_333],
  ] as const)(
    'gives %s a sign of life within each half of its time, from before it is ready',
    async ([, watchdogMs]) => {
      const {clock, told, stop, state, done} = telling(watchdogMs);
      await clock.advance(watchdogMs * 3);
      state.now = {...state.now, ready: true};
      await clock.advance(watchdogMs * 10);
      const signs = told.filter(({assignments}) => assignments.includes('WATCHDOG=1')).map(({at}) => at);
      const gaps = [...signs, clock.monotonic()].map((at, index) => at - (signs[index - 1] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(watchdogMs / 2);
      expect(signs.length).toBeLessThan(13 * 4);
      stop.abort(new Error('over'));
      await done;
    },
  );

  it('gives no sign of life while the loop stands still', async () => {
    const {clock, told, stop, state, done} = telling(2000);
    await clock.advance(0);
    state.now = {ready: true, alive: false, status: 'stuck'};
    told.length = 0;
    await clock.advance(20_000);
    expect(told.flatMap(({assignments}) => assignments)).toEqual(['READY=1', 'STATUS=stuck']);
    stop.abort(new Error('over'));
    await done;
  });

  it('complains once where systemd cannot be told, and goes on', async () => {
    let refusals = 3;
    const refuse = (): Error | null =>
      refusals-- > 0 ? new HostError('cannot run systemd-notify', {hint: 'apt-get'}) : null;
    const {clock, told, logged, stop, done} = telling(2000, refuse);
    await clock.advance(5000);
    expect(logged).toMatchObject([{level: 'warn', fields: {error: 'cannot run systemd-notify', hint: 'apt-get'}}]);
    expect(told.length).toBeGreaterThan(0);
    stop.abort(new Error('over'));
    await done;
    await settle();
    expect(logged).toHaveLength(1);
  });
});
