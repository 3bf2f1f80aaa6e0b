import {mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {containerId} from '../../src/core/runtime-status/types.js';
import {aPod} from '../support/builders.js';
import {createBench, never, type Bench} from './bench.js';

let dir = '';
let logPath = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'minikubelet-rotation-'));
  logPath = join(dir, '0.log');
});
afterEach(() => rm(dir, {recursive: true}));

/** A bench with a running container; its runtime opens the log anew as a real one does. */
async function up(): Promise<Bench> {
  const bench = createBench();
  await bench.sync(aPod());
  bench.runtime.intercept('ReopenContainerLog', () => writeFile(logPath, ''));
  return bench;
}

async function rotate(bench: Bench, maxFiles = 5): Promise<void> {
  const log = {id: containerId('containerd', bench.runtime.containerNamed('main').id), logPath};
  await bench.kubeRuntime.rotateLogs([log], {maxBytes: 10, maxFiles}, never);
  await bench.clock.advance(1000);
}

describe('rotating the log of a running container', () => {
  test('happens when it is large enough, and the runtime opens a new one', async () => {
    const bench = await up();
    await writeFile(logPath, 'small');
    await rotate(bench);
    expect(await readdir(dir)).toEqual(['0.log']);
    await writeFile(logPath, 'large enough');
    await rotate(bench);
    expect(await readdir(dir)).toEqual(['0.log', '0.log.20260101-000001']);
    expect((await stat(logPath)).size).toBe(0);
  });

  test('compresses older files and keeps no more than so many', async () => {
    const bench = await up();
    for (let round = 0; round < 6; round++) {
      await writeFile(logPath, `this is round ${round}`);
      await rotate(bench, 4);
    }
    expect((await readdir(dir)).sort()).toEqual([
      '0.log',
      '0.log.20260101-000003.gz',
      '0.log.20260101-000004.gz',
      '0.log.20260101-000005',
    ]);
    expect(gunzipSync(await readFile(join(dir, '0.log.20260101-000004.gz'))).toString()).toBe('this is round 4');
  });

  test('gives the log its name back when the runtime does not open a new one', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    bench.runtime.failNext('ReopenContainerLog', {code: 'UNKNOWN', message: 'no'});
    await writeFile(logPath, 'large enough');
    await rotate(bench);
    expect(await readdir(dir)).toEqual(['0.log']);
    expect(bench.logged).toEqual(['Failed to rotate the log of a container']);
  });

  test('keeps both files when the runtime has opened a new one and says that it failed', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    bench.runtime.intercept('ReopenContainerLog', async () => {
      await writeFile(logPath, 'new');
      throw bench.runtime.script.error('ReopenContainerLog', {code: 'DEADLINE_EXCEEDED', message: 'too late'});
    });
    await writeFile(logPath, 'large enough');
    await rotate(bench);
    expect(await readdir(dir)).toEqual(['0.log', '0.log.20260101-000000']);
    expect(await readFile(logPath, 'utf8')).toBe('new');
  });

  test('goes on where an older file cannot be compressed, and leaves nothing unfinished', async () => {
    const bench = await up();
    // A directory cannot be read as a file, and cannot be in the way of anything else.
    await mkdir(join(dir, '0.log.20250101-000000'));
    await writeFile(logPath, 'large enough');
    await rotate(bench);
    expect((await readdir(dir)).sort()).toEqual(['0.log', '0.log.20250101-000000', '0.log.20260101-000000']);
    expect(bench.logged).toEqual(['Failed to compress the log of a container']);
  });

  test('does not replace a file that was rotated within the same second', async () => {
    const bench = await up();
    await writeFile(join(dir, '0.log.20260101-000000'), 'by another process');
    await writeFile(logPath, 'large enough');
    await rotate(bench);
    expect(await readFile(join(dir, '0.log.20260101-000000'), 'utf8')).toBe('by another process');
    expect(await readFile(logPath, 'utf8')).toBe('large enough');
    await rotate(bench);
    expect((await readdir(dir)).sort()).toEqual(['0.log', '0.log.20260101-000000.gz', '0.log.20260101-000001']);
  });

  test('opens a log anew that somebody has removed', async () => {
    const bench = await up();
    await rotate(bench);
    expect(await readdir(dir)).toEqual(['0.log']);
  });
});
