import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {PodError} from '../../src/core/errors.js';
import {ContainerState} from '../../src/cri/gen/cri.js';
import {settle} from '../fakes/fake-clock.js';
import {
  aContainer,
  aPod,
  aSidecar,
  withContainer,
  withContainers,
  withInitContainers,
  withMetadata,
  withSpec,
} from '../support/builders.js';
import {createBench, never, outcome, type Sent} from './bench.js';

const POD_NAME = 'web-node1_default(57c56eb33d4a18bbaa55553c49e40f93)';

describe('a pod that is not there yet', () => {
  test('gets its sandbox, then each container created and started, in spec order', async () => {
    const bench = createBench();
    const result = await bench.sync(aPod(withContainers('a', 'b')));
    expect(outcome(result)).toEqual([
      'KillPodSandbox 57c56eb33d4a18bbaa55553c49e40f93',
      `CreatePodSandbox ${POD_NAME}`,
      'StartContainer a',
      'StartContainer b',
    ]);
    expect(bench.calls()).toEqual([
      'RunPodSandbox 0',
      'CreateContainer a/0',
      'StartContainer a',
      'CreateContainer b/0',
      'StartContainer b',
    ]);
  });

  test('is under way before anybody asks for its image', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    const rpcs = bench.runtime.calls.map(({rpc}) => rpc);
    expect(rpcs.filter(rpc => ['RunPodSandbox', 'ImageStatus', 'CreateContainer'].includes(rpc))).toEqual([
      'RunPodSandbox',
      'ImageStatus',
      'CreateContainer',
    ]);
  });

  test('is told as a decision, then step by step, with the events a kubelet records', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    expect(bench.events[0]).toMatchObject({kind: 'decision', actions: {createSandbox: true, containersToStart: [0]}});
    expect(bench.steps()).toEqual([`CreatePodSandbox ${POD_NAME}`, 'StartContainer main']);
    expect(bench.recorded()).toEqual([
      'Pulled: Container image "docker.io/library/busybox:1.36" already present on machine and can be accessed by the pod',
      'Created: Container created',
      'Started: Container started',
    ]);
    expect(bench.events.find(event => event.kind === 'recorded')).toMatchObject({fieldPath: 'spec.containers{main}'});
  });

  test('has its address asked once, before its first container is made', async () => {
    const bench = createBench();
    await bench.sync(aPod(withContainers('a', 'b')));
    const names = bench.runtime.script.names();
    expect(names.filter(rpc => rpc === 'PodSandboxStatus')).toHaveLength(1);
    expect(names.indexOf('PodSandboxStatus')).toBeLessThan(names.indexOf('CreateContainer'));
  });

  test('has its images looked up while the sandbox is made', async () => {
    const bench = createBench();
    const {release} = bench.runtime.hangNext('RunPodSandbox');
    const syncing = bench.startSync(aPod(withContainers('a', 'b')), never);
    await settle(10);
    expect(bench.runtime.script.names().filter(rpc => rpc === 'ImageStatus')).toHaveLength(1);
    release();
    await bench.drive(syncing);
    expect(bench.runtime.script.names().filter(rpc => rpc === 'ImageStatus')).toHaveLength(1);
  });

  test('has what was said of its images used for the containers that follow, for five seconds', async () => {
    const bench = createBench();
    const pod = aPod(withInitContainers(aSidecar('s1'), aSidecar('s2')));
    const asked = () => bench.runtime.script.names().filter(rpc => rpc === 'ImageStatus').length;
    await bench.sync(pod);
    await bench.sync(pod);
    expect(bench.calls().at(-1)).toBe('StartContainer s2');
    expect(asked()).toBe(1);
    await bench.clock.advance(5000);
    await bench.sync(pod);
    expect(bench.calls().at(-1)).toBe('StartContainer main');
    expect(asked()).toBe(2);
  });

  test('has a link made to each log, named like the restart count', async () => {
    const bench = createBench();
    const pod = aPod();
    await bench.sync(pod);
    expect(bench.host.links).toEqual([
      {
        podName: 'web-node1',
        podNamespace: 'default',
        containerName: 'main',
        containerId: bench.runtime.containerNamed('main').id,
        logPath: `/logs/default_web-node1_${pod.metadata.uid}/main/0.log`,
      },
    ]);
  });
});

describe('when a step fails', () => {
  test('a sandbox that cannot be made ends the sync with an event', async () => {
    const bench = createBench();
    bench.runtime.failNext('RunPodSandbox', {code: 'UNKNOWN', message: 'no network'});
    const text = `Failed to create sandbox for pod "${POD_NAME}": rpc error: code = Unknown desc = no network`;
    expect(outcome(await bench.sync(aPod())).at(-1)).toBe(
      `CreatePodSandbox ${POD_NAME} CreatePodSandboxError: ${text}`,
    );
    expect(bench.recorded()).toEqual([
      'FailedCreatePodSandBox: Failed to create pod sandbox: rpc error: code = Unknown desc = no network',
    ]);
  });

  test.for([
    ['sandboxOptions', `Failed to generate sandbox config for pod "${POD_NAME}": no name`],
    ['makePodLogDirectory', `Failed to create log directory for pod "${POD_NAME}": no name`],
    ['runtimeHandler', `Failed to create sandbox for pod "${POD_NAME}": no name`],
  ] as const)('so does the host at %s', async ([method, message]) => {
    const bench = createBench();
    bench.host.failures.set(method, new Error('no name'));
    const result = await bench.sync(aPod());
    expect(result.results.at(-1)?.error).toEqual({reason: 'CreatePodSandboxError', message});
    expect(bench.calls()).toEqual([]);
  });

  test('a sandbox whose status cannot be had fails the sync as a whole', async () => {
    const bench = createBench();
    bench.runtime.failNext('PodSandboxStatus', {code: 'UNKNOWN', message: 'lost it'});
    const result = await bench.sync(aPod());
    expect(result.syncError).toEqual({
      reason: 'PodSandboxStatusError',
      message: 'rpc error: code = Unknown desc = lost it',
      code: 'UNKNOWN',
    });
    expect(bench.recorded()).toEqual([
      'FailedPodSandBoxStatus: Unable to get pod sandbox status: rpc error: code = Unknown desc = lost it',
    ]);
  });

  test.for([
    ['CreateContainer', 'CreateContainerError'],
    ['StartContainer', 'RunContainerError'],
  ] as const)(
    'a container that the runtime refuses at %s does not keep the next one from starting',
    async ([rpc, reason]) => {
      const bench = createBench();
      bench.runtime.failNext(rpc, {code: 'UNKNOWN', message: 'bad spec'});
      const result = await bench.sync(aPod(withContainers('a', 'b')));
      expect(outcome(result).slice(-2)).toEqual([`StartContainer a ${reason}: bad spec`, 'StartContainer b']);
      expect(bench.recorded()).toContain('Failed: Error: bad spec');
    },
  );

  test("an id in the runtime's words is replaced by the name, so that equal failures are equal events", async () => {
    const bench = createBench();
    bench.runtime.intercept('StartContainer', call => {
      const {containerId} = call.request as Sent;
      throw bench.runtime.script.error('StartContainer', {
        code: 'UNKNOWN',
        message: `task ${containerId} failed`,
      });
    });
    await bench.sync(aPod());
    expect(bench.recorded()).toContain('Failed: Error: task main failed');
  });

  test('an init container that does not start ends the sync', async () => {
    const bench = createBench();
    bench.runtime.failNext('CreateContainer', {code: 'UNKNOWN', message: 'bad spec'});
    const result = await bench.sync(aPod(withInitContainers('setup')));
    expect(outcome(result).at(-1)).toBe('StartContainer setup CreateContainerError: bad spec');
    expect(bench.calls().at(-1)).toBe('CreateContainer setup/0');
  });

  test('a sidecar that does not start lets the later ones be tried', async () => {
    const bench = createBench();
    const pod = aPod(withInitContainers(aSidecar('s1'), aSidecar('s2')));
    await bench.sync(pod);
    await bench.sync(pod);
    await bench.sync(pod);
    bench.runtime.exitContainer(bench.runtime.containerNamed('s1').id, 1);
    bench.runtime.exitContainer(bench.runtime.containerNamed('s2').id, 1);
    bench.runtime.failNext('CreateContainer', {code: 'UNKNOWN', message: 'bad spec'});
    expect(outcome(await bench.sync(pod))).toEqual([
      'StartContainer s1 CreateContainerError: bad spec',
      'StartContainer s2',
    ]);
  });

  test('what the host cannot resolve is a configuration error, and what it had opened is released', async () => {
    const bench = createBench();
    bench.host.failures.set('containerOptions', new PodError('CreateContainerConfigError', 'secret "s" not found'));
    bench.host.failures.set('makeContainerLogDirectory', new Error('disk full'));
    const refused = await bench.sync(aPod());
    expect(refused.results.at(-1)?.error).toEqual({
      reason: 'CreateContainerConfigError',
      message: 'secret "s" not found',
    });
    bench.host.failures.delete('containerOptions');
    const full = await bench.sync(aPod());
    expect(full.results.at(-1)?.error).toEqual({reason: 'CreateContainerConfigError', message: 'disk full'});
    expect(bench.host.calls).toContain('release main');
  });

  test('a runtime that nobody answers for is recognisable in the result', async () => {
    const bench = createBench();
    const {reached, release} = bench.runtime.hangNext('RunPodSandbox');
    const syncing = bench.startSync(aPod(), never);
    await reached;
    bench.runtime.disconnect();
    release();
    const result = await bench.drive(syncing);
    expect(result.results.at(-1)?.error?.code).toBe('UNAVAILABLE');
  });
});

describe('a pod that is there', () => {
  test('asks nothing of runtime and host when there is nothing to do', async () => {
    const bench = createBench();
    const pod = aPod();
    await bench.sync(pod);
    const status = await bench.status(pod);
    bench.runtime.script.clear();
    bench.events.length = 0;
    bench.host.failures.set('sandboxOptions', new Error('not asked'));
    const result = await bench.sync(pod, {status});
    expect(result).toEqual({results: [], syncError: null});
    expect(bench.runtime.script.names().filter(rpc => !rpc.startsWith('List') && !rpc.endsWith('Status'))).toEqual([]);
    expect(bench.events).toEqual([]);
  });

  test('restarts a container as the next attempt in the same sandbox', async () => {
    const bench = createBench();
    const pod = aPod();
    await bench.sync(pod);
    bench.runtime.exitContainer(bench.runtime.containerNamed('main').id, 1);
    bench.runtime.script.clear();
    await bench.sync(pod);
    expect(bench.calls()).toEqual(['CreateContainer main/1', 'StartContainer main']);
    expect(bench.host.links.at(-1)?.logPath).toMatch(/\/main\/1\.log$/);
  });

  test('waits while a container is in back-off, and says for how long', async () => {
    const bench = createBench();
    const pod = aPod();
    await bench.sync(pod);
    bench.runtime.exitContainer(bench.runtime.containerNamed('main').id, 1);
    bench.events.length = 0;
    const crashLoop = {check: () => ({message: 'back-off 40s', retryAt: 40_000})};
    const result = await bench.sync(pod, {crashLoop});
    expect(result.results.at(-1)?.error).toEqual({
      reason: 'CrashLoopBackOff',
      message: 'back-off 40s',
      retryAt: 40_000,
    });
    expect(bench.recorded()).toEqual([`BackOff: Back-off restarting failed container main in pod ${POD_NAME}`]);
    expect(bench.steps()).toEqual([]);
  });

  test('is stopped and made anew when its sandbox is lost, with all instances of its init containers gone', async () => {
    const bench = createBench();
    const pod = aPod(withInitContainers('setup'));
    await bench.sync(pod);
    bench.runtime.exitContainer(bench.runtime.containerNamed('setup').id, 0);
    await bench.sync(pod);
    const sandboxId = bench.runtime.sandboxes.keys().next().value!;
    bench.runtime.exitSandbox(sandboxId);
    bench.kubeRuntime.forget(sandboxId);
    bench.runtime.script.clear();
    const result = await bench.sync(pod);
    expect(outcome(result)).toEqual([
      'KillContainer main',
      'KillPodSandbox 57c56eb33d4a18bbaa55553c49e40f93',
      `CreatePodSandbox ${POD_NAME}`,
      'StartContainer setup',
    ]);
    expect(bench.recorded()).toContain('SandboxChanged: Pod sandbox changed, it will be killed and re-created.');
    expect(bench.calls()).toContain('RunPodSandbox 1');
    expect(bench.host.calls).toContain('removeContainerLog setup');
  });

  test('has its container replaced when the image changes, after a stop within its grace period', async () => {
    const bench = createBench();
    const pod = aPod();
    await bench.sync(pod);
    bench.runtime.addImage('docker.io/library/busybox:1.37');
    bench.runtime.script.clear();
    const edited = aPod(withContainer('main', {image: 'docker.io/library/busybox:1.37'}));
    expect(outcome(await bench.sync(edited))).toEqual(['KillContainer main', 'StartContainer main']);
    expect(bench.calls().slice(0, 1)).toEqual(['StopContainer main 30']);
  });

  test('does not start a container anew that could not be stopped', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    bench.runtime.failNext('StopContainer', {code: 'UNKNOWN', message: 'stuck'});
    const result = await bench.sync(aPod(withContainer('main', {image: 'other:1'})));
    expect(outcome(result)).toEqual(['KillContainer main KillContainerError: rpc error: code = Unknown desc = stuck']);
  });

  test('keeps all but the newest dead instance of an init container away', async () => {
    const bench = createBench();
    const pod = aPod(withInitContainers('setup'));
    for (let attempt = 0; attempt < 3; attempt++) {
      await bench.sync(pod);
      bench.runtime.exitContainer(bench.runtime.containerNamed('setup').id, 1);
    }
    const left = [...bench.runtime.containers.values()].map(({config}) => config.metadata?.attempt);
    expect(left).toEqual([1, 2]);
  });

  test('goes on when an old init container cannot be removed, and says so in the log', async () => {
    const bench = createBench();
    const pod = aPod(withInitContainers('setup'));
    for (let attempt = 0; attempt < 2; attempt++) {
      await bench.sync(pod);
      bench.runtime.exitContainer(bench.runtime.containerNamed('setup').id, 1);
    }
    bench.runtime.failNext('RemoveContainer', {code: 'UNKNOWN', message: 'busy'});
    expect(outcome(await bench.sync(pod))).toEqual(['StartContainer setup']);
    expect(bench.logged).toEqual(['Failed to remove a dead container']);
  });
});

describe('the restart count (C14)', () => {
  test('comes from the logs that are left when the runtime has forgotten the container', async () => {
    const bench = createBench();
    bench.host.leftOverLogs.set('main', 8);
    await bench.sync(aPod());
    const [request] = bench.sent('CreateContainer');
    expect(request?.config.metadata.attempt).toBe(8);
    expect(request?.config.annotations['io.kubernetes.container.restartCount']).toBe('8');
    expect(request?.config.logPath).toBe('main/8.log');
    expect(bench.host.links[0]?.logPath).toMatch(/\/main\/8\.log$/);
  });

  test('starts at 0 when the left-over logs cannot be read', async () => {
    const bench = createBench();
    bench.host.failures.set('restartCountFromLogs', new Error('permission denied'));
    await bench.sync(aPod());
    expect(bench.calls()).toContain('CreateContainer main/0');
    expect(bench.logged).toEqual(['Cannot calculate the restart count from the log directory']);
  });

  test('is one more than that of an instance that could not be started (C11)', async () => {
    const bench = createBench();
    bench.runtime.failNext('StartContainer', {code: 'UNAVAILABLE', message: 'gone for a moment'});
    await bench.sync(aPod());
    bench.runtime.script.clear();
    await bench.sync(aPod());
    expect(bench.calls()).toEqual(['CreateContainer main/1', 'StartContainer main']);
  });
});

describe('a restart of all containers', () => {
  test('stops and removes what is there, with no more grace than the floor and with its logs kept', async () => {
    const bench = createBench();
    const pod = aPod(withContainers('a', 'b'));
    await bench.sync(pod);
    bench.runtime.exitContainer(bench.runtime.containerNamed('b').id, 3);
    bench.runtime.script.clear();
    const result = await bench.sync(pod, {restartAllContainers: true});
    expect(outcome(result)).toEqual(['RemoveContainer a', 'RemoveContainer b']);
    expect(bench.runtime.script.names(true)).toEqual(['StopContainer', 'RemoveContainer', 'RemoveContainer']);
    expect(bench.sent('StopContainer')[0]?.timeout).toBe(2n);
    expect(bench.host.calls.filter(call => call.startsWith('removeContainerLog'))).toEqual([]);
  });
});

describe('an ephemeral container', () => {
  test('joins the process namespace of its target', async () => {
    const bench = createBench();
    const pod = aPod(withSpec({ephemeralContainers: [{...aContainer('debug'), targetContainerName: 'main'}]}));
    await bench.sync(aPod());
    expect(outcome(await bench.sync(pod))).toEqual(['StartContainer debug']);
    const {linux} = bench.sent('CreateContainer').at(-1)!.config;
    expect(linux.securityContext.namespaceOptions.targetId).toBe(bench.runtime.containerNamed('main').id);
  });

  test('is refused while its target is not there', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    const pod = aPod(withSpec({ephemeralContainers: [{...aContainer('debug'), targetContainerName: 'none'}]}));
    const result = await bench.sync(pod);
    expect(outcome(result)).toEqual([
      'StartContainer debug CreateContainerConfigError: unable to find target container none',
    ]);
  });
});

describe('cancelling a sync', () => {
  test.for(['RunPodSandbox', 'PodSandboxStatus', 'PullImage', 'CreateContainer', 'StartContainer'] as const)(
    'ends it at %s with the reason of the abort',
    async rpc => {
      const bench = createBench();
      const controller = new AbortController();
      const {reached} = bench.runtime.hangNext(rpc);
      const syncing = bench.startSync(aPod(withContainer('main', {imagePullPolicy: 'Always'})), controller.signal);
      await reached;
      controller.abort(new Error('the pod is terminating'));
      await expect(syncing).rejects.toThrow('the pod is terminating');
      expect(bench.recorded().filter(event => event.startsWith('Failed'))).toEqual([]);
    },
  );

  test('lets the next sync make good what was left half done', async () => {
    const bench = createBench();
    const controller = new AbortController();
    const {reached} = bench.runtime.hangNext('StartContainer');
    const syncing = bench.startSync(aPod(), controller.signal);
    await reached;
    controller.abort(new Error('stop'));
    await expect(syncing).rejects.toThrow('stop');
    await bench.sync(aPod());
    expect(bench.runtime.containerNamed('main').state).toBe(ContainerState.CONTAINER_RUNNING);
    expect(await bench.plan(aPod())).toMatchObject({killPod: false, createSandbox: false, containersToStart: []});
  });
});

describe('whatever the pod', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), {minLength: 1, maxLength: 6});
  const arbitraryPod = fc
    .tuple(names, fc.nat(5), fc.constantFrom('Always', 'OnFailure', 'Never'), fc.boolean())
    .map(([all, split, restartPolicy, hasSidecars]) => {
      const init = all.slice(1).slice(0, split);
      const regular = all.filter(name => !init.includes(name));
      return aPod(
        withContainers(...regular),
        withInitContainers(
          ...init.map((name, index) => (hasSidecars && index % 2 === 0 ? aSidecar(name) : aContainer(name))),
        ),
        withSpec({restartPolicy}),
        withMetadata({uid: `uid-${all.join('')}`}),
      );
    });

  test('syncing it until nothing is left to do leaves one sandbox and at most one live instance of each container', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPod, fc.array(fc.nat(5), {maxLength: 8}), async (pod, deaths) => {
        const bench = createBench();
        const isSidecar = (name: string): boolean =>
          pod.spec.initContainers?.some(
            container => container.name === name && container.restartPolicy === 'Always',
          ) === true;
        const initNames = new Set(pod.spec.initContainers?.map(({name}) => name));
        for (let round = 0; round < 20; round++) {
          await bench.sync(pod);
          const running = [...bench.runtime.containers.values()].filter(
            ({state}) => state === ContainerState.CONTAINER_RUNNING,
          );
          const live = running.map(({config}) => config.metadata!.name);
          expect(new Set(live).size).toBe(live.length);
          expect([...bench.runtime.sandboxes.values()].filter(({ready}) => ready).length).toBeLessThanOrEqual(1);
          for (const {id, config} of running) {
            const {name} = config.metadata!;
            if (initNames.has(name) && !isSidecar(name)) bench.runtime.exitContainer(id, 0);
          }
          const victim = running[deaths[round] ?? -1];
          if (victim !== undefined) bench.runtime.exitContainer(victim.id, 1);
        }
        const plan = await bench.plan(pod);
        expect({...plan, sandboxID: '', attempt: 0}).toEqual({
          killPod: plan.killPod,
          createSandbox: false,
          sandboxID: '',
          attempt: 0,
          initContainersToStart: [],
          containersToStart: [],
          ephemeralContainersToStart: [],
          containersToKill: [],
          containersToReset: [],
        });
      }),
      {numRuns: 30},
    );
  });
});
