// The pause process holds a pod together: as pid 1 it must reap what nobody else waits for, and end at once when told to.
import {readdirSync, readFileSync} from 'node:fs';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {ContainerState, PodSandboxState} from '../../src/cri/gen/cri.js';
import type {CriConnection} from '../../src/cri/grpc-runtime-service.js';
import {systemClock} from '../../src/lib/clock.js';
import {runCriPod} from '../support/cri-pods.js';
import {connectCri, noRuntimeReason, startTestRuntime, type TestRuntime} from '../support/embedded-runtime.js';

const signal = AbortSignal.timeout(170_000);

describe.skipIf(noRuntimeReason !== null)('the pause process', () => {
  let runtime: TestRuntime;
  let cri: CriConnection;
  beforeAll(async () => {
    runtime = await startTestRuntime();
    cri = connectCri(runtime.endpoint);
  });
  afterAll(async () => {
    cri.close();
    await runtime.stop();
  });

  test('reaps orphans of the pod, and TERM ends it and the pod', async () => {
    // Each round leaves a child to pid 1 that ends by itself; the containers own process never waits for it.
    const orphans = 'for n in 1 2 3 4 5; do (sh -c "exec true" &); done; exec sleep 1000';
    const pod = await runCriPod(
      cri,
      {uid: 'reap', command: ['sh', '-c', orphans], logDirectory: `${runtime.rootDir}/logs`, sharePids: true},
      signal,
    );
    const states = async (): Promise<string> => {
      const {stdout} = await cri.runtime.execSync(pod.container, ['ps', '-o', 'pid,stat,args'], 0, signal);
      return Buffer.from(stdout).toString();
    };
    await until(async () => !/ Z|\bdefunct\b/.test(await states()));
    expect(await states()).toMatch(/^ +1 .*\/bin\/busybox sh -c trap/m);

    await cri.runtime.execSync(pod.container, ['kill', '-TERM', '1'], 0, signal).catch(() => undefined);
    await until(
      async () =>
        (await cri.runtime.containerStatus(pod.container, signal)).status?.state !== ContainerState.CONTAINER_RUNNING,
    );
    // A pid namespace ends with its pid 1: the container was killed, and the sandbox is no more.
    await until(async () => {
      const {status} = await cri.runtime.podSandboxStatus(pod.sandbox, signal);
      return status?.state === PodSandboxState.SANDBOX_NOTREADY;
    });
  });

  test('needs next to no memory', async () => {
    const pod = await runCriPod(
      cri,
      {uid: 'small', command: ['sleep', '1000'], logDirectory: `${runtime.rootDir}/logs`},
      signal,
    );
    const pause = readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .find(pid => readOrEmpty(`/proc/${pid}/cgroup`).includes(pod.sandbox));
    const kilobytes = Number(/^RssAnon:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pause}/status`))?.[1]);
    expect(kilobytes).toBeLessThan(1024);
  });
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await systemClock.sleep(10, signal);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
