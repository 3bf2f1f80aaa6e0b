// A containerd as a subject of the contract.
import {mkdtemp} from 'node:fs/promises';
import {join} from 'node:path';
import {connectCri} from '../support/embedded-runtime.js';
import type {Subject} from './subject.js';

/** A private containerd that runs. */
export interface PrivateRuntime {
  readonly rootDir: string;
  readonly endpoint: string;
  stop(): Promise<void>;
}

export async function subjectOn(private_: PrivateRuntime): Promise<Subject> {
  const {runtime, images, close} = connectCri(private_.endpoint);
  const {runtimeVersion} = await runtime.version(new AbortController().signal);
  return {
    runtime,
    images,
    logDirectory: await mkdtemp(join(private_.rootDir, 'logs-')),
    during: work => work,
    stopOfUnknown: /^v?1\.[0-6]\./.test(runtimeVersion) ? 'NOT_FOUND' : 'succeeds',
    tellsOOM: true,
    close: async () => {
      close();
      await private_.stop();
    },
  };
}
