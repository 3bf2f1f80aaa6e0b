// What a Pod spec asks for, as its container and its owner see it, through the real binary on a real containerd.
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {SERVE, shellPod, startApplyWorld, type ApplyWorld} from '../support/apply-world.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';

if (noRuntimeReason !== null) console.error(`NOT TRIED: what pod specs ask for: ${noRuntimeReason}`);

const IMAGE = 'docker.io/library/busybox:1.36';

/** A manifest in JSON; `spec.containers` get the image that is there. */
function pod(name: string, spec: {readonly containers: readonly object[]; readonly [field: string]: unknown}): string {
  const containers = spec.containers.map(container => ({image: IMAGE, ...container}));
  const metadata = {name};
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {terminationGracePeriodSeconds: 2, ...spec, containers},
  });
}

const sh = (name: string, program: string, more: object = {}): object => ({
  name,
  command: ['sh', '-c', program],
  ...more,
});

describe.skipIf(noRuntimeReason !== null)('a pod on a real containerd', {timeout: 600_000}, () => {
  let world: ApplyWorld;
  beforeAll(async () => {
    world = await startApplyWorld();
  });
  afterEach(() => world.clear());
  afterAll(() => world.stop());

  /** Applies one manifest; the pod that came of it, by its name. */
  async function applied(name: string, text: string, ...flags: readonly string[]) {
    const dir = await world.manifests({'a.yaml': text});
    const result = await world.report(['apply', dir, ...flags]);
    return {...result, dir, pod: result.pods[name]};
  }

  /** What a container of a running pod prints. */
  async function inside(name: string, command: string): Promise<string> {
    const container = (await world.containers(name)).find(({running}) => running);
    const {stdout, stderr} = await world.cri.runtime.execSync(
      container?.id ?? '',
      ['sh', '-c', command],
      0,
      AbortSignal.timeout(60_000),
    );
    return Buffer.concat([stdout, stderr]).toString();
  }

  test('whose postStart hook waits for a later container: that is shown, its logs can be read, Ctrl-C and delete work (C16)', async () => {
    const hook = {postStart: {exec: {command: ['sh', '-c', 'until nc -z localhost 80; do sleep 0.1; done']}}};
    const program = `echo a is up; trap 'echo told to end; exit 0' TERM; while :; do sleep 0.1; done`;
    const text = pod('blocked', {
      terminationGracePeriodSeconds: 5,
      containers: [sh('a', program, {lifecycle: hook}), sh('b', 'nc -l -p 80')],
    });
    const dir = await world.manifests({'a.yaml': text});
    let told = '';
    const running = await world.run(['apply', dir], {
      onOutput({stderr}, kill) {
        if (told !== '' || !stderr.includes('running postStart hook of container a')) return;
        told = stderr;
        kill('SIGINT');
      },
    });
    expect(running.code).toBe(130);
    expect((await world.containers('blocked')).map(({name}) => name)).toEqual(['a']);
    expect((await world.run(['logs', 'blocked', '-c', 'a'])).stdout).toBe('a is up\n');
    world.proxy.script.clear();
    expect(await world.run(['delete', 'blocked'])).toMatchObject({code: 0});
    const timeouts = world.proxy.script
      .requests('StopContainer')
      .map(request => (request as {timeout: bigint}).timeout);
    expect(timeouts).toEqual([5n]);
    expect(await world.sandboxes('blocked')).toEqual([]);
  });

  test('whose host port is taken fails with the reason and never touches the runtime; those beside it come up (C22)', async () => {
    const holding = (name: string): string =>
      shellPod(name, SERVE, {more: 'ports: [{containerPort: 80, hostPort: 18080, hostIP: 127.0.0.1}]'});
    const dir = await world.manifests({
      'a-first.yaml': holding('first'),
      'b-second.yaml': holding('second'),
      'c-good.yaml': shellPod('good'),
    });
    const result = await world.report(['apply', dir]);
    expect(result).toMatchObject({code: 1, changes: {first: 'created', second: 'failed', good: 'created'}});
    expect(result.pods['second']).toMatchObject({failure: {reason: 'NodePorts'}, status: {phase: 'Failed'}});
    expect(result.stderr).toContain('NodePorts');
    expect(await world.sandboxes('second')).toEqual([]);
    const again = await world.mutations(async () => {
      expect(await world.report(['apply', dir])).toMatchObject({
        code: 1,
        changes: {first: 'unchanged', second: 'failed', good: 'unchanged'},
      });
    });
    expect(again).toEqual([]);
  });

  test('a mount of a volume that there is not keeps all of the directory from being touched (C22)', async () => {
    const broken = pod('bad', {containers: [sh('c', SERVE, {volumeMounts: [{name: 'none', mountPath: '/x'}]})]});
    const dir = await world.manifests({'good.yaml': shellPod('good'), 'bad-ref.yaml': broken});
    const mutations = await world.mutations(async () => {
      const {code, stderr} = await world.run(['apply', dir]);
      expect(code).toBe(3);
      expect(stderr).toMatch(/bad-ref\.yaml:\d+:\d+ spec\.containers\[0\]\.volumeMounts\[0\]\.name/);
    });
    expect(mutations).toEqual([]);
  });

  test('that lacks a ConfigMap ends the apply before anything is made (C06)', async () => {
    const text = pod('ref', {containers: [sh('c', SERVE, {envFrom: [{configMapRef: {name: 'cfg'}}]})]});
    const mutations = await world.mutations(async () => {
      const {code, stderr} = await applied('ref', text);
      expect(code).toBe(3);
      expect(stderr).toContain('"cfg"');
    });
    expect(mutations).toEqual([]);
  });

  test('with readiness gates that nobody sets has failed at once, and says which', async () => {
    const text = pod('gated', {readinessGates: [{conditionType: 'example.com/fine'}], containers: [sh('c', SERVE)]});
    const {code, pod: gated} = await applied('gated', text, '--timeout', '0');
    expect(code).toBe(1);
    expect(gated?.failure).toMatchObject({reason: 'ReadinessGatesNotReady'});
    expect(gated?.failure?.message).toContain('example.com/fine');
  });

  test.for<[string, object, string, string]>([
    ['the file that it wrote', {}, 'printf why > /dev/termination-log; echo noise; exit 3', 'why'],
    ['nothing where it wrote no file', {}, 'echo noise; exit 3', ''],
    [
      'its last lines where it wrote no file and asks for them',
      {terminationMessagePolicy: 'FallbackToLogsOnError'},
      'echo one; echo two; exit 3',
      'one\ntwo\n',
    ],
    [
      'a file of another name',
      {terminationMessagePath: '/tmp/last-words'},
      'printf elsewhere > /tmp/last-words; exit 3',
      'elsewhere',
    ],
  ])('that fails leaves as its message %s', async ([, fields, program, message]) => {
    const text = pod('ended', {restartPolicy: 'Never', containers: [sh('main', program, fields)]});
    const {code, pod: ended} = await applied('ended', text, '--wait-for', 'completed');
    expect(code).toBe(1);
    const {stdout} = await world.run(['get', 'pod', 'ended', '-o', 'json']);
    const {status} = JSON.parse(stdout) as Shown;
    expect(status.containerStatuses?.[0]?.state?.terminated?.message ?? '').toBe(message);
    expect(ended?.failure).toMatchObject({container: 'main', exitCode: 3});
  });

  test('gets the safe sysctls that it asks for; others only where the node allows them', async () => {
    const asking = (name: string, value: string): string =>
      pod('tuned', {securityContext: {sysctls: [{name, value}]}, containers: [sh('c', SERVE)]});
    expect((await applied('tuned', asking('kernel.shm_rmid_forced', '1'))).code).toBe(0);
    expect(await inside('tuned', 'cat /proc/sys/kernel/shm_rmid_forced')).toBe('1\n');
    await world.clear();

    const unsafe = asking('kernel.msgmax', '16384');
    const mutations = await world.mutations(async () => {
      expect(await applied('tuned', unsafe)).toMatchObject({code: 1, pod: {failure: {reason: 'SysctlForbidden'}}});
    });
    expect(mutations).toEqual([]);
    expect((await applied('tuned', unsafe, '--allowed-unsafe-sysctls', 'kernel.msg*')).code).toBe(0);
    expect(await inside('tuned', 'cat /proc/sys/kernel/msgmax')).toBe('16384\n');
  });

  test('of a RuntimeClass runs by its handler, with its overhead; of one that nobody defines it is refused', async () => {
    const classed = (runtimeClassName: string): string =>
      pod('classed', {runtimeClassName, containers: [sh('c', SERVE)]});
    const runtimeClass = JSON.stringify({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: {name: 'ordinary'},
      handler: 'runc',
      overhead: {podFixed: {memory: '64Mi'}},
    });
    const dir = await world.manifests({'class.json': runtimeClass, 'pod.json': classed('ordinary')});
    world.proxy.script.clear();
    expect(await world.report(['apply', dir])).toMatchObject({code: 0});
    const [request] = world.proxy.script.requests('RunPodSandbox') as readonly {readonly runtimeHandler: string}[];
    expect(request?.runtimeHandler).toBe('runc');
    const shown = JSON.parse((await world.run(['get', 'pod', 'classed', '-o', 'json'])).stdout) as Shown;
    expect(shown.spec.overhead).toEqual({memory: '64Mi'});
    await world.clear();

    const refused = await applied('classed', classed('nobody'), '--timeout', '5s');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('"nobody"');
    expect(await world.sandboxes('classed')).toEqual([]);
  });

  test('comes out of workloads and of the first kubelet’s manifests, too', async () => {
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name: 'web'},
      spec: {
        replicas: 2,
        selector: {matchLabels: {app: 'web'}},
        template: {metadata: {labels: {app: 'web'}}, spec: {containers: [{image: IMAGE, ...sh('c', SERVE)}]}},
      },
    };
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {name: 'sum'},
      spec: {template: {spec: {restartPolicy: 'Never', containers: [{image: IMAGE, ...sh('c', 'echo $((6 * 7))')}]}}},
    };
    const first = `version: v1beta1
id: old
containers:
- {name: c, image: "${IMAGE}", command: [sh, -c, "${SERVE}"]}
`;
    const dir = await world.manifests({
      'deployment.json': JSON.stringify(deployment),
      'job.json': JSON.stringify(job),
      'old.yaml': first,
    });
    const {code, changes} = await world.report(['apply', dir]);
    expect({code, changes}).toEqual({
      code: 0,
      changes: {old: 'created', 'sum-0': 'created', 'web-0': 'created', 'web-1': 'created'},
    });
    expect((await world.run(['logs', 'sum-0'])).stdout).toBe('42\n');
  });
});

interface Shown {
  readonly spec: {readonly overhead?: unknown};
  readonly status: {
    readonly containerStatuses?: readonly {readonly state?: {readonly terminated?: {readonly message?: string}}}[];
  };
}
