// The API of a real `watch` on a real containerd: pods that are pushed, what is told of them, and what outlives the agent.
import {mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {apiSocketPath} from '../../src/api/socket-path.js';
import type {Pod} from '../../src/core/pod/types.js';
import {askServer, type AskOptions, type Asked} from '../api/world.js';
import {NODE, shellPod} from '../support/apply-world.js';
import {minikubelet} from '../support/built-binary.js';
import {noRuntimeReason, startTestRuntime, type TestRuntime} from '../support/embedded-runtime.js';
import {startWatch, type WatchProcess} from '../support/watch-process.js';

/** Counts up in its log, for ever. */
const COUNT = 'n=0; trap "exit 0" TERM; while :; do n=$((n+1)); echo line $n; sleep 0.05; done';

describe.skipIf(noRuntimeReason !== null)('the API of watch', () => {
  let daemon: TestRuntime;
  let watch: WatchProcess;
  const socketPath = (): string => apiSocketPath(daemon.rootDir);
  const ask = (method: string, url: string, options?: AskOptions): Promise<Asked> =>
    askServer({socketPath: socketPath()}, method, url, options);
  const pod = async (name: string): Promise<Pod | null> => {
    const answer = await ask('GET', `/pods/${name}`);
    return answer.status === 200 ? (answer.json() as unknown as Pod) : null;
  };
  const ready = (name: string): Promise<Pod> =>
    watch.until(`${name} being ready`, async () => {
      const found = await pod(name);
      const isReady = found?.status?.conditions?.some(({type, status}) => type === 'Ready' && status === 'True');
      return isReady === true ? found : null;
    });
  const start = async (): Promise<void> => {
    const flags = ['--root-dir', daemon.rootDir, '--node-name', NODE, '-r', daemon.endpoint, '--log-level', 'info'];
    const tcp = ['--listen', '127.0.0.1:0', '--token-file', join(daemon.rootDir, 'token')];
    watch = await startWatch([join(daemon.rootDir, 'given'), ...flags, ...tcp, '--container-log-max-size', '1k']);
    await watch.until('health', () =>
      ask('GET', '/healthz').then(
        ({status}) => (status === 200 ? true : null),
        () => null,
      ),
    );
  };

  beforeAll(async () => {
    daemon = await startTestRuntime();
    await mkdir(join(daemon.rootDir, 'given'));
    await writeFile(join(daemon.rootDir, 'token'), 'secret');
    await start();
  });
  afterAll(async () => {
    await watch.stop('SIGKILL');
    await daemon.stop();
  });

  test('a pod that is pushed runs, and shows with its status and events', async () => {
    expect((await ask('PUT', '/pods/web', {body: shellPod('web', COUNT)})).status).toBe(201);
    const web = await ready('web');
    expect(web).toMatchObject({
      metadata: {name: `web-${NODE}`, annotations: {'kubernetes.io/config.source': 'server'}},
      status: {phase: 'Running', podIP: expect.stringMatching(/^\d+\./) as string},
    });
    const {items} = (await ask('GET', '/pods')).json() as unknown as {items: readonly Pod[]};
    expect(items.map(({metadata}) => metadata.name)).toEqual([`web-${NODE}`]);
    const events = (await ask('GET', '/events?follow=false')).text.trim().split('\n');
    const reasons = events.map(line => (JSON.parse(line) as {reason: string}).reason);
    expect(reasons).toEqual(expect.arrayContaining(['Pulled', 'Created', 'Started']));
  });

  test('get asks the agent, not the runtime', async () => {
    const flags = ['--root-dir', daemon.rootDir, '--node-name', NODE, '-r', 'unix:///nowhere.sock'];
    const {code, stdout} = await minikubelet(['get', 'pods', '-o', 'name', ...flags]);
    expect({code, stdout}).toEqual({code: 0, stdout: `pod/web-${NODE}\n`});
  });

  test('metrics count what there is', async () => {
    const {text} = await ask('GET', '/metrics');
    expect(text).toMatch(/^kubelet_running_pods 1$/m);
    expect(text).toMatch(/^kubelet_running_containers\{container_state="running"\} 1$/m);
    expect(text).toMatch(/^kubelet_desired_pods\{static="true"\} 1$/m);
    expect(text).toMatch(/^kubelet_runtime_operations_total\{operation_type="run_podsandbox"\} 1$/m);
    expect(text).toMatch(/^kubelet_pod_start_duration_seconds_count 1$/m);
  });

  test('the log of a container is rotated, and no line of it is lost', async () => {
    const {metadata} = await ready('web');
    const dir = join(daemon.rootDir, 'logs', 'pods', `default_web-${NODE}_${metadata.uid}`, 'main');
    const list = async (): Promise<string> => (await readdir(dir)).sort().join(' ');
    // Rotation goes on meanwhile: what counts is what was read while the names stayed as they are between two of them.
    const texts = await watch.until('a compressed log, beside one that is not yet', async () => {
      const names = await list();
      if (!/^0\.log (0\.log\.\d{8}-\d{6}\.gz )+0\.log\.\d{8}-\d{6}$/.test(names)) return null;
      const [current = '', ...rotated] = names.split(' ');
      const read = await Promise.all([...rotated, current].map(name => textOf(join(dir, name)))).catch(() => null);
      return (await list()) === names ? read : null;
    });
    const numbers = [...texts.join('').matchAll(/ F line (\d+)\n/g)].map(([, number]) => Number(number));
    expect(numbers.length).toBeGreaterThan(20);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  test('what was pushed outlives an agent that is killed, untouched; meanwhile get asks the runtime', async () => {
    const before = await ready('web');
    await watch.stop('SIGKILL');
    expect((await stat(socketPath())).isSocket()).toBe(true);
    const flags = ['--root-dir', daemon.rootDir, '--node-name', NODE, '-r', daemon.endpoint];
    const {stdout} = await minikubelet(['get', 'pods', '-o', 'name', ...flags]);
    expect(stdout).toBe(`pod/web-${NODE}\n`);
    await start();
    const after = await ready('web');
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.status?.containerStatuses?.[0]).toMatchObject({
      containerID: before.status?.containerStatuses?.[0]?.containerID,
      restartCount: 0,
    });
  });

  test('a TCP port serves the same to whoever brings the token', async () => {
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(watch.stderr())?.[1]);
    const where = {host: '127.0.0.1', port};
    expect((await askServer(where, 'GET', '/pods')).status).toBe(401);
    expect((await askServer(where, 'GET', '/pods', {headers: {authorization: 'Bearer secret'}})).status).toBe(200);
  });

  test('a pod that is taken back ends, and the socket goes with the agent', async () => {
    expect((await ask('DELETE', '/pods/web')).status).toBe(200);
    await watch.until('the end of web', async () => {
      const {text} = await ask('GET', '/metrics');
      return /^kubelet_running_pods 0$/m.test(text) ? true : null;
    });
    expect(await pod('web')).toBeNull();
    expect(await watch.stop()).toEqual({code: 0, signal: null});
    await expect(stat(socketPath())).rejects.toMatchObject({code: 'ENOENT'});
  });
});

async function textOf(log: string): Promise<string> {
  const bytes = await readFile(log);
  return (log.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
}
