// What doctor gathers on a real host, healthy and broken.
import {mkdtemp, readdir, rename, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {RuntimeUnavailableError} from '../../src/core/errors.js';
import {findings} from '../../src/host/doctor/findings.js';
import {gatherFacts} from '../../src/host/doctor/gather-facts.js';
import type {CriConnection} from '../../src/cri/grpc-runtime-service.js';
import {runtimePaths} from '../../src/host/embedded-runtime/paths.js';
import type {HostFacts} from '../../src/host/facts.js';
import {mountOf, mountsUnder, readMountinfo} from '../../src/host/mountinfo.js';
import {systemClock} from '../../src/lib/clock.js';
import {connectCri, noRuntimeReason, startTestRuntime, type TestRuntime} from '../support/embedded-runtime.js';

const signal = AbortSignal.timeout(170_000);

describe.skipIf(noRuntimeReason !== null)('doctor', () => {
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

  const gather = (rootDir = runtime.rootDir): Promise<HostFacts> =>
    gatherFacts(
      {rootDir, clock: systemClock, connection: {...cri, endpoint: runtime.endpoint, configuredBy: 'the test'}},
      signal,
    );

  test('finds nothing wrong with the embedded runtime, and leaves nothing behind', async () => {
    const facts = await gather();
    expect(facts).toMatchObject({embedded: true, mountsReachDaemon: true, hasSandboxImage: true});
    // The disk of whoever runs this is his own business.
    expect(findings(facts).filter(({level, check}) => level !== 'ok' && check !== 'disk')).toEqual([]);
    expect(await readdir(join(runtime.rootDir, 'pods'))).toEqual([]);
    expect(mountsUnder(readMountinfo(), join(runtime.rootDir, 'pods'))).toHaveLength(1);
  });

  test('sees that mounts of a directory that is not shared do not reach the daemon', async () => {
    const other = await mkdtemp(join(tmpdir(), 'mk-unshared-'));
    try {
      const isShared = mountOf(readMountinfo(), other)?.peerGroup !== null;
      expect((await gather(other)).mountsReachDaemon).toBe(isShared);
      expect(mountsUnder(readMountinfo(), other)).toEqual([]);
    } finally {
      await rm(other, {recursive: true});
    }
  });

  test('sees a network configuration that is gone', async () => {
    const {cniConfig} = runtimePaths(runtime.rootDir);
    await rename(cniConfig, `${cniConfig}.off`);
    try {
      expect((await gather()).cni).toMatchObject({configFiles: [], plugins: []});
    } finally {
      await rename(`${cniConfig}.off`, cniConfig);
    }
  });

  test('says what it can where there is no runtime', async () => {
    const error = new RuntimeUnavailableError('no socket at unix:///nowhere', {
      endpoint: 'unix:///nowhere',
      configuredBy: '--runtime-endpoint',
      hint: 'start it',
    });
    const facts = await gatherFacts({rootDir: runtime.rootDir, clock: systemClock, connection: error}, signal);
    expect(findings(facts).map(({check}) => check)).toEqual(['root', 'runtime', 'cgroups', 'disk']);
  });
});
