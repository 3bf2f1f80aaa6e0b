import {appendFile, mkdtemp, rename, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {LogOptions} from '../../src/core/logs/log-options.js';
import {readContainerLog} from '../../src/kuberuntime/container-logs.js';
import {driveClock} from '../fakes/drive-clock.js';
import {FakeClock} from '../fakes/fake-clock.js';

let dir = '';
let path = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'minikubelet-logs-'));
  path = join(dir, '0.log');
});
afterEach(async () => {
  for (const {stop, done} of readings.splice(0)) {
    stop();
    await done.catch(() => undefined);
  }
  await rm(dir, {recursive: true});
});

const line = (text: string, stream = 'stdout', second = 0): string =>
  `2026-03-01T11:00:${String(second).padStart(2, '0')}Z ${stream} F ${text}\n`;

interface Reading {
  readonly clock: FakeClock;
  readonly done: Promise<void>;
  readonly text: () => string;
  readonly stop: (reason?: Error) => void;
  running: boolean;
}

/** Those of the test at hand: what still follows is stopped after it. */
const readings: Reading[] = [];

function read(options: LogOptions, only?: 'stdout' | 'stderr'): Reading {
  const clock = new FakeClock();
  const controller = new AbortController();
  let text = '';
  const sink = (_stream: string, bytes: Uint8Array): void => {
    text += new TextDecoder().decode(bytes);
  };
  const deps = {clock, isRunning: () => Promise.resolve(reading.running)};
  const reading: Reading = {
    clock,
    running: true,
    text: () => text,
    stop: reason => controller.abort(reason),
    get done() {
      return done;
    },
  };
  const done = readContainerLog(deps, path, {options, sink, only}, controller.signal);
  done.catch(() => undefined);
  readings.push(reading);
  return reading;
}

/** Lets the reader come to what has been written. */
async function until(reading: Reading, text: string): Promise<void> {
  for (let round = 0; round < 50_000 && reading.text() !== text; round++) {
    await new Promise(resolve => setImmediate(resolve));
    await reading.clock.advance(50);
  }
  expect(reading.text()).toBe(text);
}

describe('following a log', () => {
  test('writes what comes, until the container has ended and all is read', async () => {
    await writeFile(path, line('one'));
    const reading = read({follow: true});
    await until(reading, 'one\n');
    await appendFile(path, line('two'));
    await until(reading, 'one\ntwo\n');
    await appendFile(path, line('last'));
    reading.running = false;
    await driveClock(reading.clock, reading.done);
    expect(reading.text()).toBe('one\ntwo\nlast\n');
  });

  test('waits for the end of a line that is still being written', async () => {
    await writeFile(path, line('one') + '2026-03-01T11:00:01Z std');
    const reading = read({follow: true});
    await until(reading, 'one\n');
    await appendFile(path, 'out F two\n');
    await until(reading, 'one\ntwo\n');
  });

  test('goes on in the new file after a rotation, without losing the end of the old one', async () => {
    await writeFile(path, line('one'));
    const reading = read({follow: true});
    await until(reading, 'one\n');
    await appendFile(path, line('late'));
    await rename(path, `${path}.20260301-110000`);
    await writeFile(path, line('new'));
    await until(reading, 'one\nlate\nnew\n');
  });

  test('survives the moment between rename and new file', async () => {
    await writeFile(path, line('one'));
    const reading = read({follow: true});
    await until(reading, 'one\n');
    await rename(path, `${path}.1`);
    await reading.clock.advance(1000);
    await writeFile(path, line('new'));
    await until(reading, 'one\nnew\n');
  });

  test('reads a file from its beginning that was cut to nothing', async () => {
    await writeFile(path, line('one') + line('two'));
    const reading = read({follow: true});
    await until(reading, 'one\ntwo\n');
    await writeFile(path, line('new'));
    await until(reading, 'one\ntwo\nnew\n');
  });

  test('starts with the last lines that are asked for', async () => {
    await writeFile(path, line('one') + line('two') + line('three'));
    const reading = read({follow: true, tailLines: 1});
    await until(reading, 'three\n');
    await appendFile(path, line('four'));
    await until(reading, 'three\nfour\n');
  });

  test('ends at the limit of bytes', async () => {
    await writeFile(path, line('one'));
    const reading = read({follow: true, limitBytes: 6});
    await until(reading, 'one\n');
    await appendFile(path, line('two'));
    await driveClock(reading.clock, reading.done);
    expect(reading.text()).toBe('one\ntw');
  });

  test('ends with its signal', async () => {
    await writeFile(path, line('one'));
    const reading = read({follow: true});
    await until(reading, 'one\n');
    reading.stop(new Error('enough'));
    await expect(reading.done).rejects.toThrow('enough');
    expect(reading.clock.pendingTimers).toBe(0);
  });
});

describe('reading a log', () => {
  test.for([0, 1, 2, 5, 1000, 40_000])('its last %d lines are found however long it is', async lines => {
    const all = Array.from({length: 5000}, (_, index) => `line ${index}`);
    await writeFile(path, all.map(text => line(text)).join(''));
    const reading = read({tailLines: lines});
    await reading.done;
    const wanted = lines === 0 ? [] : all.slice(-lines);
    expect(reading.text()).toBe(wanted.map(text => `${text}\n`).join(''));
  });

  test('a line longer than what is read at once stays whole', async () => {
    const long = 'x'.repeat(300_000);
    await writeFile(path, line(long) + line('end'));
    const reading = read({});
    await reading.done;
    expect(reading.text()).toBe(`${long}\nend\n`);
  });

  test('one stream alone may be wanted; the other does not count against the limit', async () => {
    await writeFile(path, line('out') + line('err', 'stderr') + line('more'));
    const reading = read({limitBytes: 6}, 'stdout');
    await reading.done;
    expect(reading.text()).toBe('out\nmo');
  });

  test('what has not ended with a line end is written too', async () => {
    await writeFile(path, line('one') + '2026-03-01T11:00:01Z stdout F cut');
    const reading = read({});
    await reading.done;
    expect(reading.text()).toBe('one\ncut');
  });

  test('a slow reader is waited for', async () => {
    await writeFile(path, line('one') + line('two'));
    const clock = new FakeClock();
    const order: string[] = [];
    const sink = async (_stream: string, bytes: Uint8Array): Promise<void> => {
      order.push('begin');
      await clock.sleep(1000);
      order.push(new TextDecoder().decode(bytes));
    };
    const deps = {clock, isRunning: () => Promise.resolve(false)};
    await driveClock(clock, readContainerLog(deps, path, {options: {}, sink}, new AbortController().signal));
    expect(order).toEqual(['begin', 'one\n', 'begin', 'two\n']);
  });

  test('a log that is not there is an error with its path', async () => {
    await expect(read({}).done).rejects.toThrow(/^failed to open log file ".*\/0\.log": ENOENT/);
  });

  test('a line without a stream is an error', async () => {
    await writeFile(path, '{"log":"x","time":"2026-03-01T11:00:00Z"}\n');
    await expect(read({}).done).rejects.toThrow('unexpected stream type ""');
  });
});
