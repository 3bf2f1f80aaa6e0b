// A private containerd of a given release: the embedded runtime with other programs than the installed ones.
import {delimiter} from 'node:path';
import {startTestRuntime, type TestRuntime} from './embedded-runtime.js';

/** Starts the containerd of `binDir` (daemon, shim and ctr), with the pause image and docker.io/library/busybox:1.36. */
export async function startContainerd(binDir: string): Promise<TestRuntime> {
  const runtime = await withPath(binDir, startTestRuntime);
  return {...runtime, stop: () => withPath(binDir, () => runtime.stop())};
}

/** Programs are looked up on the PATH of this process, and the daemon inherits it. */
async function withPath<T>(binDir: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['PATH'] ?? '';
  process.env['PATH'] = `${binDir}${delimiter}${before}`;
  try {
    return await work();
  } finally {
    process.env['PATH'] = before;
  }
}
