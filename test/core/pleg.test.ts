import {describe, expect, it} from 'vitest';
import {
  computeEvents,
  isListedAs,
  listedWithExits,
  pendingExits,
  runtimePodFromStatus,
  withExits,
  type ExitFacts,
} from '../../src/core/pleg.js';
import type {RuntimePod} from '../../src/core/runtime-status/types.js';
import {
  aPod,
  aPodStatus,
  created,
  exited,
  nothingYet,
  running,
  withSandboxes,
  type StatusChange,
} from '../support/builders.js';

const pod = aPod();

function listed(...changes: readonly StatusChange[]): RuntimePod {
  return runtimePodFromStatus(aPodStatus(pod, ...changes));
}

function types(old: RuntimePod | undefined, next: RuntimePod | undefined): readonly string[] {
  return computeEvents(old, next).map(({type, id}) => `${type} ${id}`);
}

function exit(id: string, exitCode = 0, outOfMemory = false): ExitFacts {
  return new Map([[id, {id, at: 5000, exitCode, outOfMemory}]]);
}

describe('computeEvents', () => {
  it.for([
    ['a container starts', listed(), listed(running('main')), ['ContainerStarted main-0']],
    ['a container ends', listed(running('main')), listed(exited('main')), ['ContainerDied main-0']],
    ['a dead container is removed', listed(exited('main')), listed(), ['ContainerRemoved main-0']],
    [
      'a running container vanishes',
      listed(running('main')),
      listed(),
      ['ContainerDied main-0', 'ContainerRemoved main-0'],
    ],
    ['a container is only created', listed(), listed(created('main')), ['ContainerChanged main-0']],
    ['nothing happens', listed(running('main')), listed(running('main')), []],
    ['a pod appears', undefined, listed(), ['ContainerStarted sandbox-0']],
    ['a pod is gone', listed(), undefined, ['ContainerDied sandbox-0', 'ContainerRemoved sandbox-0']],
    ['a sandbox dies', listed(), listed(withSandboxes({state: 'SANDBOX_NOTREADY'})), ['ContainerDied sandbox-0']],
  ] as const)('%s', ([, old, next, want]) => {
    expect(types(old, next)).toEqual(want);
  });

  it('does not mind the order of a list', () => {
    const there = listed(running('main', 'side'));
    expect(types(there, {...there, containers: there.containers.toReversed()})).toEqual([]);
  });
});

describe('an exit that the runtime has announced', () => {
  it('is shown before the runtime shows it', () => {
    const status = withExits(aPodStatus(pod, running('main')), exit('main-0', 3));
    expect(status.containers[0]).toMatchObject({state: 'exited', exitCode: 3, reason: 'Error', finishedAt: 5000});
    const killed = withExits(aPodStatus(pod, running('main')), exit('main-0', 137, true));
    expect(killed.containers[0]).toMatchObject({reason: 'OOMKilled'});
  });

  it('of a sandbox takes the sandbox down', () => {
    const status = withExits(aPodStatus(pod, running('main')), exit('sandbox-0'));
    expect(status.sandboxes[0]?.state).toBe('SANDBOX_NOTREADY');
    expect(status.containers[0]).toMatchObject({state: 'running', active: false});
  });

  it('changes nothing of other containers, nor of one that the runtime shows as exited', () => {
    const status = aPodStatus(pod, exited('main', 1));
    expect(withExits(status, exit('main-0', 9))).toBe(status);
    expect(withExits(status, exit('elsewhere'))).toBe(status);
  });

  it('counts in a list, too, and no longer than it takes', () => {
    const lagging = listed(running('main'));
    expect(listedWithExits(lagging, exit('main-0')).containers[0]?.state).toBe('exited');
    expect([...pendingExits(exit('main-0'), [lagging]).keys()]).toEqual(['main-0']);
    expect(pendingExits(exit('main-0'), [listed(exited('main'))]).size).toBe(0);
    expect(pendingExits(exit('main-0'), []).size).toBe(0);
  });
});

describe('isListedAs', () => {
  it('is true for a saved status that a list bears out', () => {
    const status = aPodStatus(pod, running('main'));
    expect(isListedAs(status, listed(running('main')))).toBe(true);
    expect(isListedAs(status, listed(exited('main')))).toBe(false);
    expect(isListedAs(aPodStatus(pod, nothingYet), listed())).toBe(false);
  });
});
