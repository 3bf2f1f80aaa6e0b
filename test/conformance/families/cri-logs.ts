import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {LogOptions} from '../../../src/core/logs/log-options.js';
import {readContainerLog} from '../../../src/kuberuntime/container-logs.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import type {Family} from '../family.js';

interface Input {
  readonly content: string;
  readonly options: LogOptions;
}

interface Want {
  readonly stdout: string;
  readonly stderr: string;
  readonly error?: string;
}

export const family: Family<Input, Want> = {
  async run({content, options}): Promise<Want> {
    const dir = await mkdtemp(join(tmpdir(), 'minikubelet-cri-logs-'));
    try {
      const path = join(dir, '0.log');
      await writeFile(path, content);
      return await read(path, options);
    } finally {
      await rm(dir, {recursive: true});
    }
  },
};

async function read(path: string, options: LogOptions): Promise<Want> {
  const written = {stdout: '', stderr: ''};
  const deps = {clock: new FakeClock(), isRunning: () => Promise.resolve(false)};
  const sink = (stream: 'stdout' | 'stderr', text: Uint8Array): void => {
    written[stream] += new TextDecoder().decode(text);
  };
  try {
    await readContainerLog(deps, path, {options, sink}, new AbortController().signal);
    return written;
  } catch (error) {
    return {...written, error: (error as Error).message};
  }
}
