// How far a pull is: a real containerd and a real registry behind a slow connection.
import {randomBytes} from 'node:crypto';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import type {AgentEvent} from '../../src/core/events.js';
import {busyboxSpec, readBusybox} from '../../src/host/images/busybox.js';
import type {ImageSpec} from '../../src/host/images/oci-archive.js';
import {ensureBuilt, minikubelet} from '../support/built-binary.js';
import {noRuntimeReason, startTestRuntime, type TestRuntime} from '../support/embedded-runtime.js';
import {noRegistryReason, TestRegistry} from '../support/registry.js';
import {startSlowProxy, type SlowProxy} from '../support/slow-proxy.js';
import {noTerminalReason, runInTerminal} from '../support/terminal.js';

const reason = noRuntimeReason ?? noRegistryReason;
if (reason !== null) console.error(`NOT TRIED: the bytes of a pull: ${reason}`);

const BYTES_PER_SECOND = 2_000_000;

type PullProgress = AgentEvent & {kind: 'pull-progress'};
type PullsOf = (pod: string) => readonly PullProgress[];

describe.skipIf(reason !== null)('a pull through a slow connection', {timeout: 300_000}, () => {
  let runtime: TestRuntime;
  let registry: TestRegistry;
  let slow: SlowProxy;
  let busybox: Omit<ImageSpec, 'reference'>;
  let dirs = 0;

  beforeAll(async () => {
    busybox = busyboxSpec(await readBusybox(), '');
    [runtime, registry] = await Promise.all([startTestRuntime(), TestRegistry.create(), ensureBuilt()]);
    slow = await startSlowProxy(registry.address, BYTES_PER_SECOND);
  });
  afterAll(async () => {
    slow.close();
    await registry.destroy();
    await runtime.stop();
  });

  /** Pushes an image of busybox and `extra` bytes; `total`: of its config and its layers. */
  async function push(repository: string, tag: string, extra: number): Promise<{total: number; digest: string}> {
    const content = randomBytes(extra);
    const entries = [...busybox.entries, {type: 'file', path: 'ballast', mode: 0o644, content} as const];
    const digest = await registry.push(repository, tag, {...busybox, entries});
    const answer = await fetch(`http://${registry.address}/v2/${repository}/manifests/${digest}`, {
      headers: {Accept: 'application/vnd.oci.image.manifest.v1+json'},
    });
    const {config, layers} = (await answer.json()) as Record<'config', Sized> & Record<'layers', readonly Sized[]>;
    return {digest, total: [config, ...layers].reduce((sum, {size}) => sum + size, 0)};
  }

  /** A directory with one pod an image, named after the key. */
  async function podsOf(images: Readonly<Record<string, string>>): Promise<string> {
    const dir = join(runtime.rootDir, `pods-${dirs++}`);
    await mkdir(dir);
    for (const [name, image] of Object.entries(images)) {
      const containers = [{name: 'main', image: `${slow.address}/${image}`, command: ['true']}];
      const pod = {apiVersion: 'v1', kind: 'Pod', metadata: {name}, spec: {restartPolicy: 'Never', containers}};
      await writeFile(join(dir, `${name}.json`), JSON.stringify(pod));
    }
    return dir;
  }

  const where = (): readonly string[] => ['--root-dir', runtime.rootDir, '-r', runtime.endpoint, '--node-name', 'box'];

  /** Applies a pod for each image until it has ended; answers what was told of the pull of each. */
  async function pulled(images: Readonly<Record<string, string>>): Promise<PullsOf> {
    const flags = [...where(), '--wait-for', 'completed', '--progress', 'json'];
    const {code, stderr} = await minikubelet(['apply', await podsOf(images), ...flags]);
    expect(code, stderr).toBe(0);
    const events = stderr.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line) as AgentEvent] : []));
    return (name: string) =>
      events.filter(event => event.kind === 'pull-progress').filter(({pod}) => pod.name === `${name}-box`);
  }

  /** What of the image was there each time, held to growing bit by bit up to `total`. */
  function expectGrowth(events: readonly PullProgress[], total: number): void {
    const told = events.flatMap(({bytes}) => (bytes === null ? [] : [bytes]));
    expect(new Set(told.map(bytes => bytes.total))).toEqual(new Set([total]));
    const done = told.map(bytes => bytes.done);
    expect(done).toEqual(done.toSorted((left, right) => left - right));
    expect(done.filter(bytes => bytes > 0 && bytes < total).length).toBeGreaterThanOrEqual(2);
  }

  test('tells how much of its image is there, and not of another that is pulled meanwhile', async () => {
    const [large, small] = [await push('large', '1', 8_000_000), await push('small', '1', 4_000_000)];
    const told = await pulled({large: 'large:1', small: 'small:1'});
    expectGrowth(told('large'), large.total);
    expectGrowth(told('small'), small.total);
  });

  test('of a further tag of a repository, and of a digest in it, is not taken for another', async () => {
    await push('tags', '1', 10_000);
    await pulled({first: 'tags:1'});
    const [second, third] = [await push('tags', '2', 5_000_000), await push('tags', '3', 6_000_000)];
    const told = await pulled({second: 'tags:2', third: `tags@${third.digest}`});
    expectGrowth(told('second'), second.total);
    expectGrowth(told('third'), third.total);
  });

  test.skipIf(noTerminalReason !== null)('shows its bytes in the task', async () => {
    const {total} = await push('shown', '1', 9_000_000);
    const dir = await podsOf({shown: 'shown:1'});
    const terminal = await runInTerminal(['apply', dir, '--wait-for', 'completed', ...where()]);
    onTestFinished(() => terminal.close());
    const size = `${(total / 1_000_000).toFixed(1)} MB`;
    await terminal.until(new RegExp(`pulling image \\S+shown:1 \\(2(\\.\\d)?s, [1-9]\\.\\d MB of ${size}\\)`));
    await terminal.until(/rc=0/);
  });
});

interface Sized {
  readonly size: number;
}
