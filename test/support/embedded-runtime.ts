// A private containerd for tests: its own root directory, gone when the test ends.
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {openCri, type CriConnection} from '../../src/cri/grpc-runtime-service.js';
import type {EmbeddedRuntimeDeps} from '../../src/host/embedded-runtime/deps.js';
import {loadImage} from '../../src/host/embedded-runtime/load.js';
import {startRuntime} from '../../src/host/embedded-runtime/start.js';
import {stopRuntime} from '../../src/host/embedded-runtime/stop.js';
import {busyboxImage, readBusybox} from '../../src/host/images/busybox.js';
import {findExecutable} from '../../src/host/run-command.js';
import {systemClock} from '../../src/lib/clock.js';
import {createLogger} from '../../src/lib/logger.js';
import {writeFile} from 'node:fs/promises';

export function connectCri(endpoint: string): CriConnection {
  return openCri(endpoint);
}

export const runtimeDeps: EmbeddedRuntimeDeps = {
  clock: systemClock,
  logger: createLogger(({level, message, fields}) => console.error(level, message, JSON.stringify(fields)), 'warn'),
  connect: connectCri,
};

/** Why no real containerd can be had here; null when it can. */
export const noRuntimeReason: string | null =
  process.getuid?.() !== 0
    ? 'not root'
    : (['containerd', 'runc', 'busybox'].find(name => findExecutable(name) === null) ?? null) === null
      ? null
      : 'containerd, runc or busybox-static is not installed';

export interface TestRuntime {
  readonly rootDir: string;
  readonly endpoint: string;
  readonly pid: number;
  /** Ends every pod, the daemon, and removes the root directory. */
  stop(): Promise<void>;
}

/** Many tests may share a small machine. */
const PATIENCE_MS = 300_000;

/** Starts a private containerd with the pause image and docker.io/library/busybox:1.36. */
export async function startTestRuntime(): Promise<TestRuntime> {
  const rootDir = await mkdtemp(join(tmpdir(), 'mk-'));
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const {endpoint, pid} = await startRuntime(runtimeDeps, rootDir, signal);
  const archive = join(rootDir, 'busybox.tar');
  await writeFile(archive, busyboxImage(await readBusybox()));
  await loadImage(runtimeDeps, rootDir, archive, signal);
  return {
    rootDir,
    endpoint,
    pid,
    async stop() {
      await stopRuntime(runtimeDeps, rootDir, {gracePeriodSeconds: 0}, AbortSignal.timeout(PATIENCE_MS));
      await rm(rootDir, {recursive: true, force: true});
    },
  };
}
