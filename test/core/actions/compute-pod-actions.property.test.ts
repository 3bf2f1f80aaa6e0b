// Whatever state a pod is found in, carrying out plans over and over brings it to rest, and nothing bad happens on the way.
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {computePodActions, type CachedProbes} from '../../../src/core/actions/compute-pod-actions.js';
import type {PodActions, ProbeResult} from '../../../src/core/actions/types.js';
import {isRestartableInitContainer} from '../../../src/core/pod/restart-policy.js';
import type {Container, Pod, PodStatus} from '../../../src/core/pod/types.js';
import {generatePodStatus} from '../../../src/core/status/generate-pod-status.js';
import type {ContainerId, PodRuntimeStatus, RuntimeSandboxStatus} from '../../../src/core/runtime-status/types.js';
import {
  aContainer,
  aPod,
  aPodStatus,
  aProbe,
  nothingYet,
  sandboxId,
  T0,
  withInstance,
  withSandboxes,
  withSpec,
  type StatusChange,
} from '../../support/builders.js';
import {carryOut, completeInitContainers, liveCopies, liveSandboxes} from './model-runtime.js';

const policy = fc.constantFrom('Always', 'OnFailure', 'Never');
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, {nil: undefined});

const container = (name: string, policies: fc.Arbitrary<string | undefined>): fc.Arbitrary<Container> =>
  fc
    .record({restartPolicy: policies, startupProbe: fc.boolean(), livenessProbe: fc.boolean()})
    .map(({restartPolicy, startupProbe, livenessProbe}) =>
      aContainer(name, {
        ...(restartPolicy !== undefined && {restartPolicy}),
        ...(startupProbe && {startupProbe: aProbe()}),
        ...(livenessProbe && {livenessProbe: aProbe()}),
      }),
    );

const containers = (prefix: string, min: number, policies: fc.Arbitrary<string | undefined>) =>
  fc
    .integer({min, max: 3})
    .chain(count => fc.tuple(...Array.from({length: count}, (_, index) => container(`${prefix}${index}`, policies))));

/** Not marked deleted: such a pod is ended by other means than syncs. */
const anyPod: fc.Arbitrary<Pod> = fc
  .record({
    restartPolicy: policy,
    initContainers: containers('init', 0, optional(policy)),
    containers: containers('c', 1, optional(policy)),
  })
  .map(spec => aPod(withSpec(spec)));

/** Instances of one container: old ones are over, only the newest may be in any state. */
const instances = (name: string): fc.Arbitrary<readonly StatusChange[]> =>
  fc
    .record({
      older: fc.array(fc.constantFrom(0, 1, 137), {maxLength: 2}),
      newest: optional(
        fc.record({
          state: fc.constantFrom('created' as const, 'running' as const, 'exited' as const, 'unknown' as const),
          exitCode: fc.constantFrom(0, 1),
          outdated: fc.integer({min: 0, max: 9}).map(dice => dice === 0),
        }),
      ),
    })
    .map(({older, newest}) => {
      const dead = older.map((exitCode, index) =>
        withInstance(name, {state: 'exited', exitCode, restartCount: index, createdAt: T0 + index}),
      );
      if (newest === undefined) return dead;
      const {outdated, ...rest} = newest;
      const position = {restartCount: older.length, createdAt: T0 + older.length};
      return [...dead, withInstance(name, {...rest, ...position, ...(outdated && {hash: '1'})})];
    });

const sandboxes: fc.Arbitrary<StatusChange> = fc
  .array(
    fc.record({
      state: fc.constantFrom<RuntimeSandboxStatus['state']>('SANDBOX_READY', 'SANDBOX_NOTREADY'),
      ip: fc.constantFrom('10.88.0.2', '', null),
    }),
    {maxLength: 2},
  )
  .map(list => {
    if (list.length === 0) return nothingYet;
    return withSandboxes(
      ...list.map((sandbox, index) => {
        const attempt = list.length - 1 - index;
        return {...sandbox, attempt, id: sandboxId(`sandbox-${attempt}`)};
      }),
    );
  });

interface Situation {
  readonly pod: Pod;
  readonly status: PodRuntimeStatus;
  readonly probes: CachedProbes;
}

const situation: fc.Arbitrary<Situation> = anyPod.chain(pod => {
  const names = namesOf(pod);
  return fc
    .record({
      sandbox: sandboxes,
      found: fc.tuple(...names.map(instances)),
      results: fc.array(fc.constantFrom<ProbeResult | undefined>('success', 'failure', 'unknown', undefined), {
        minLength: 40,
        maxLength: 40,
      }),
    })
    .map(({sandbox, found, results}) => {
      const status = aPodStatus(pod, sandbox, ...found.flat());
      const pick = (offset: number): ReadonlyMap<ContainerId, ProbeResult> =>
        new Map(
          status.containers.flatMap(({id}, index) => {
            const result = results[(index + offset) % results.length];
            return result === undefined ? [] : [[id, result] as const];
          }),
        );
      return {pod, status, probes: {liveness: pick(0), startup: pick(20)}};
    });
});

function namesOf({spec}: Pod): readonly string[] {
  return [...(spec.initContainers ?? []), ...spec.containers].map(({name}) => name);
}

/** All is well: every startup probe succeeds, no liveness probe fails. */
function contentProbes(status: PodRuntimeStatus): CachedProbes {
  return {liveness: new Map(), startup: new Map(status.containers.map(({id}) => [id, 'success' as const]))};
}

interface Course {
  readonly states: readonly PodRuntimeStatus[];
  readonly plans: readonly PodActions[];
  /** Phase in which it came to rest. */
  readonly phase: string | undefined;
}

/** States and plans one after the other, until nothing changes any more or the pod is over. */
function run({pod, status, probes}: Situation, maxSteps = 25): Course {
  const states = [status];
  const plans: PodActions[] = [];
  let current = status;
  let published: PodStatus | undefined;
  for (let step = 0; step < maxSteps; step++) {
    const cached = step === 0 ? probes : contentProbes(current);
    published = publish(pod, current, cached, published);
    const {phase} = published;
    // Such a pod is not synced any more, but ended.
    if (phase === 'Succeeded' || phase === 'Failed') return {states, plans, phase};
    const plan = computePodActions(pod, current, cached);
    plans.push(plan);
    const next = completeInitContainers(pod, carryOut(pod, current, plan));
    states.push(next);
    if (JSON.stringify(next, bigintText) === JSON.stringify(current, bigintText)) return {states, plans, phase};
    current = next;
  }
  throw new Error(`no rest after ${maxSteps} steps`);
}

function publish(
  pod: Pod,
  runtimeStatus: PodRuntimeStatus,
  {startup}: CachedProbes,
  oldStatus: PodStatus | undefined,
): PodStatus {
  const facts = {podIsTerminal: false, readiness: new Map(), startFailures: new Map(), agentStart: T0};
  return generatePodStatus({pod, runtimeStatus, oldStatus, startup, ...facts});
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function isIdle(plan: PodActions): boolean {
  const {killPod, createSandbox, sandboxID: _id, attempt: _attempt, ...lists} = plan;
  return !killPod && !createSandbox && Object.values(lists).every(list => list.length === 0);
}

describe('carrying out plans', () => {
  test('comes to rest: nothing is left to do, or the pod is over or stopped', () => {
    fc.assert(
      fc.property(situation, given => {
        const {plans, states, phase} = run(given);
        const last = plans.at(-1);
        if (phase === 'Succeeded' || phase === 'Failed' || (last !== undefined && isIdle(last))) return;
        // A pod of policy Never that has lost its sandbox gets no other, even for containers with a policy of their own.
        expect(last).toMatchObject({killPod: true, createSandbox: false});
        expect(liveSandboxes(states.at(-1)!)).toBe(0);
      }),
      {numRuns: 200},
    );
  });

  test('never leaves two live sandboxes, or two live copies of a container', () => {
    fc.assert(
      fc.property(situation, given => {
        for (const state of run(given).states.slice(1)) {
          expect(liveSandboxes(state)).toBeLessThanOrEqual(1);
          for (const name of namesOf(given.pod)) expect(liveCopies(state, name)).toBeLessThanOrEqual(1);
        }
      }),
      {numRuns: 200},
    );
  });

  test('under Always ends with every container running', () => {
    fc.assert(
      fc.property(situation, ({pod, ...rest}) => {
        const always = aPod(
          withSpec({
            ...pod.spec,
            restartPolicy: 'Always',
            initContainers: (pod.spec.initContainers ?? []).map(withoutOwnPolicy),
            containers: pod.spec.containers.map(withoutOwnPolicy),
          }),
        );
        const last = run({pod: always, ...rest}).states.at(-1)!;
        expect(always.spec.containers.map(({name}) => liveCopies(last, name))).toEqual(
          always.spec.containers.map(() => 1),
        );
      }),
      {numRuns: 200},
    );
  });
});

function withoutOwnPolicy({restartPolicy: _policy, ...rest}: Container): Container {
  return rest;
}

test('a fresh pod starts its containers in order: each init container when all before it are done', () => {
  fc.assert(
    fc.property(anyPod, pod => {
      const status = aPodStatus(pod, nothingYet);
      const {plans, states} = run({pod, status, probes: {liveness: new Map(), startup: new Map()}});
      const init = pod.spec.initContainers ?? [];
      for (const [step, plan] of plans.entries()) {
        const before = states[step]!;
        const isDone = (container: Container): boolean => {
          const current = before.containers.find(({name}) => name === container.name);
          if (isRestartableInitContainer(container)) return current?.state === 'running';
          return current?.state === 'exited' && current.exitCode === 0;
        };
        for (const index of plan.initContainersToStart) expect(init.slice(0, index).every(isDone)).toBe(true);
        if (plan.containersToStart.length > 0 && init.length > 0) expect(init.every(isDone)).toBe(true);
      }
    }),
    {numRuns: 200},
  );
});
