// Which logs are looked at, and when. What is done to them: test/kuberuntime/log-rotation.test.ts.
import {expect, it} from 'vitest';
import {manageContainerLogs} from '../../src/agent/container-log-manager.js';
import {DEFAULT_LOG_ROTATION} from '../../src/core/logs/rotation.js';
import type {RunningLog} from '../../src/kuberuntime/kube-runtime.js';
import type {ContainerId, PodRuntimeStatus, RuntimePod} from '../../src/core/runtime-status/types.js';
import {FakeClock, settle} from '../fakes/fake-clock.js';

it('every ten seconds the logs of running containers are looked at, as far as their place is known', async () => {
  const clock = new FakeClock();
  const rounds: (readonly RunningLog[])[] = [];
  const container = (id: string, state: string, logPath?: string) => ({id: id as ContainerId, state, logPath});
  const status = {
    containers: [
      container('c://running', 'running', '/logs/0.log'),
      container('c://dead', 'exited', '/logs/1.log'),
      container('c://unknown', 'running'),
      container('c://silent', 'running', ''),
    ],
  } as unknown as PodRuntimeStatus;
  const stop = new AbortController();
  const deps = {
    clock,
    kubeRuntime: {rotateLogs: (logs: readonly RunningLog[]) => Promise.resolve(void rounds.push(logs))},
    pleg: {pods: () => [{uid: 'u'} as RuntimePod], status: () => status},
    policy: DEFAULT_LOG_ROTATION,
  };
  const running = manageContainerLogs(deps, stop.signal);
  await clock.advance(9_999);
  expect(rounds).toEqual([]);
  await clock.advance(20_001);
  await settle();
  const one = [{id: 'c://running', logPath: '/logs/0.log'}];
  expect(rounds).toEqual([one, one, one]);
  stop.abort(new Error('over'));
  await expect(running).rejects.toThrow('over');
});
