import {describe, expect, test} from 'vitest';
import {ContainerState} from '../../src/cri/gen/cri.js';
import {settle} from '../fakes/fake-clock.js';
import {aContainer, aPod, withContainer, withContainers} from '../support/builders.js';
import {createBench, never, outcome} from './bench.js';

const POST_START = {lifecycle: {postStart: {exec: {command: ['warm', 'up']}}}};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a postStart hook', () => {
  test('runs in its container before the next container is started (C16)', async () => {
    const bench = createBench();
    bench.runtime.onExec = async () => {
      await bench.clock.sleep(5000);
      return {exitCode: 0, stdout: bytes(''), stderr: bytes('')};
    };
    const pod = aPod(withContainers(aContainer('a', POST_START), 'b'));
    expect(outcome(await bench.sync(pod)).slice(-2)).toEqual(['StartContainer a', 'StartContainer b']);
    const names = bench.runtime.script.names().filter(rpc => rpc === 'StartContainer' || rpc === 'ExecSync');
    expect(names).toEqual(['StartContainer', 'ExecSync', 'StartContainer']);
    expect(bench.sent('ExecSync')[0]).toMatchObject({cmd: ['warm', 'up'], timeout: 0n});
  });

  test('is told as a step of its own while it runs', async () => {
    const bench = createBench();
    await bench.sync(aPod(withContainer('main', POST_START)));
    expect(bench.events).toContainEqual(
      expect.objectContaining({kind: 'step-started', step: 'PostStartHook', target: 'main', detail: 'exec warm up'}),
    );
  });

  test('that fails costs its container the life, within its grace period, and is a failed start', async () => {
    const bench = createBench();
    bench.runtime.onExec = () => ({exitCode: 7, stdout: bytes('out\n'), stderr: bytes('no "db"')});
    const result = await bench.sync(aPod(withContainer('main', POST_START)));
    const target = 'for Container "main" in Pod "web-node1_default(57c56eb33d4a18bbaa55553c49e40f93)"';
    expect(result.results.at(-1)?.error).toEqual({
      reason: 'PostStartHookError',
      message:
        `Exec lifecycle hook ([warm up]) ${target} failed - error: ` +
        String.raw`command 'warm up' exited with 7: no "db", message: "out\nno \"db\""`,
    });
    expect(bench.recorded().slice(-2)).toEqual([
      'FailedPostStartHook: PostStartHook failed',
      'Killing: FailedPostStartHook',
    ]);
    expect(bench.calls().at(-1)).toBe('StopContainer main 30');
  });

  test('that fails stays the reason when its container cannot be stopped either', async () => {
    const bench = createBench();
    bench.runtime.onExec = () => ({exitCode: 1, stdout: bytes(''), stderr: bytes('')});
    bench.runtime.failNext('StopContainer', {code: 'UNKNOWN', message: 'stuck'});
    const result = await bench.sync(aPod(withContainer('main', POST_START)));
    expect(result.results.at(-1)?.error?.reason).toBe('PostStartHookError');
    expect(bench.logged).toEqual(['Failed to kill container']);
  });

  test('is cancelled by the end of its pod, which is then stopped (C16)', async () => {
    const bench = createBench();
    bench.runtime.onExec = (_container, _cmd, signal) =>
      bench.clock.sleep(3_600_000, signal).then(() => never as never);
    const pod = aPod(withContainers(aContainer('a', POST_START), 'b'));
    const controller = new AbortController();
    const syncing = bench.startSync(pod, controller.signal);
    syncing.catch(() => undefined);
    await bench.clock.advance(20_000);
    controller.abort(new Error('deleted'));
    await expect(syncing).rejects.toThrow('deleted');
    await bench.kill(pod, 5);
    expect(bench.calls().slice(-2)[0]).toBe('StopContainer a 5');
    expect(bench.runtime.containerNamed('a').state).toBe(ContainerState.CONTAINER_EXITED);
    expect(bench.recorded().filter(event => event.startsWith('FailedPostStartHook'))).toEqual([]);
  });

  test('of kind sleep waits its seconds', async () => {
    const bench = createBench();
    const from = bench.clock.now();
    await bench.sync(aPod(withContainer('main', {lifecycle: {postStart: {sleep: {seconds: 4}}}})));
    expect(bench.clock.now() - from).toBe(4000);
  });

  test('of kind tcpSocket fails, as the API says of it', async () => {
    const bench = createBench();
    const result = await bench.sync(aPod(withContainer('main', {lifecycle: {postStart: {tcpSocket: {port: 80}}}})));
    expect(result.results.at(-1)?.error?.message).toBe(
      'Cannot run handler: invalid handler: {"tcpSocket":{"port":80}}',
    );
  });

  test('does not run when its container could not be started', async () => {
    const bench = createBench();
    bench.runtime.failNext('StartContainer', {code: 'UNKNOWN', message: 'no'});
    await bench.sync(aPod(withContainer('main', POST_START)));
    await settle();
    expect(bench.runtime.script.names()).not.toContain('ExecSync');
  });
});
