// What systemd is told by a real `watch`, on a datagram socket that socat holds: no systemd runs here. The program
// systemd-notify is the real one where it is installed; else a script of one line stands in for it.
import {spawn, type ChildProcess} from 'node:child_process';
import {chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {stopRuntime} from '../../src/host/embedded-runtime/stop.js';
import {readIdentity} from '../../src/host/embedded-runtime/daemon.js';
import {runtimePaths} from '../../src/host/embedded-runtime/paths.js';
import {findExecutable, runCommand} from '../../src/host/run-command.js';
import {noRuntimeReason, runtimeDeps} from '../support/embedded-runtime.js';
import {startWatch, type WatchProcess} from '../support/watch-process.js';

const noSocatReason = findExecutable('socat') === null ? 'socat is not installed' : null;
const program = findExecutable('systemd-notify') === null ? 'a stand-in for systemd-notify' : 'systemd-notify';

/** Sends its arguments after --no-block, one a line, as one datagram. */
const STAND_IN = `#!/bin/sh
shift
printf '%s\\n' "$@" | socat -u STDIN UNIX-SENDTO:"$NOTIFY_SOCKET"
`;

describe.skipIf((noRuntimeReason ?? noSocatReason) !== null)(`a service of systemd, told through ${program}`, () => {
  let rootDir: string;
  let socket: string;
  let socat: ChildProcess;
  let told = '';
  let watch: WatchProcess;
  const count = (assignment: string): number => told.split(assignment).length - 1;
  const until = (assignment: string, times = 1): Promise<true> =>
    watch.until(`${assignment} (${times})`, () => (count(assignment) >= times ? true : null));

  beforeAll(async () => {
    rootDir = await mkdtemp(join(tmpdir(), 'mk-'));
    socket = join(rootDir, 'notify.sock');
    socat = spawn('socat', ['-u', `UNIX-RECV:${socket}`, 'STDOUT'], {stdio: ['ignore', 'pipe', 'inherit']});
    socat.stdout?.setEncoding('utf8').on('data', (text: string) => (told += text));
    while (!(await stat(socket).catch(() => null))) await new Promise(resolve => setImmediate(resolve));
    const bin = join(rootDir, 'bin');
    await mkdir(bin);
    if (program !== 'systemd-notify') {
      await writeFile(join(bin, 'systemd-notify'), STAND_IN);
      await chmod(join(bin, 'systemd-notify'), 0o755);
    }
    const manifests = join(rootDir, 'given');
    await mkdir(manifests);
    watch = await startWatch(['--root-dir', rootDir, '--node-name', 'box', manifests], {
      NOTIFY_SOCKET: socket,
      WATCHDOG_USEC: '1000000',
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    });
  });

  afterAll(async () => {
    await watch.stop('SIGKILL');
    socat.kill();
    await stopRuntime(runtimeDeps, rootDir, {gracePeriodSeconds: 0}, AbortSignal.timeout(60_000));
    await rm(rootDir, {recursive: true, force: true});
  });

  test('it is told when the agent is ready, how it is, and again and again that it is alive', async () => {
    await until('READY=1');
    await until('STATUS=0 of 0 pods up');
    await until('WATCHDOG=1', 4);
    expect(count('READY=1')).toBe(1);
    expect(count('STOPPING=1')).toBe(0);
  });

  test('the embedded containerd, which speaks to systemd itself, does not speak for us', async () => {
    const daemon = await readIdentity(runtimePaths(rootDir));
    const environ = await readFile(`/proc/${daemon?.pid}/environ`, 'utf8');
    expect(environ).toMatch(/PATH=/);
    expect(environ).not.toMatch(/NOTIFY_SOCKET|WATCHDOG_USEC/);
  });

  test('it is told that the agent stops, and that is the end of it', async () => {
    expect(await watch.stop()).toEqual({code: 0, signal: null});
    await expect.poll(() => count('STOPPING=1')).toBe(1);
    expect(watch.stderr()).not.toMatch(/systemd|rror/);
  });
});

test.skipIf(findExecutable('systemd-analyze') === null)(
  'the unit file says nothing that systemd does not know',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'mk-unit-'));
    try {
      const unit = await readFile(new URL('../../docs/minikubelet.service', import.meta.url), 'utf8');
      const path = join(dir, 'minikubelet.service');
      await writeFile(path, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
      const {code, stdout, stderr} = await runCommand('systemd-analyze', ['verify', path]);
      expect({code, said: stdout + stderr}).toEqual({code: 0, said: ''});
    } finally {
      await rm(dir, {recursive: true});
    }
  },
);
