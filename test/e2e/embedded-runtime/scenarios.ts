// Runs in mount, network and process namespaces of its own (see the test beside), so that whole states of "the machine" can be
// compared while other tests run. Prints one JSON document: the states before start and after stop, and what happened between.
import {execFileSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {readdir, writeFile} from 'node:fs/promises';
import {runtimeState} from '../../../src/host/embedded-runtime/status.js';
import {loadImage} from '../../../src/host/embedded-runtime/load.js';
import {runtimePaths} from '../../../src/host/embedded-runtime/paths.js';
import {startRuntime} from '../../../src/host/embedded-runtime/start.js';
import {stopRuntime} from '../../../src/host/embedded-runtime/stop.js';
import {busyboxImage, readBusybox} from '../../../src/host/images/busybox.js';
import {mountAt, mountsUnder, readMountinfo} from '../../../src/host/mountinfo.js';
import {identifyProcess, processArguments} from '../../../src/host/process-identity.js';
import {instanceRecords} from '../../../src/host/record-store.js';
import {connectCri, runtimeDeps} from '../../support/embedded-runtime.js';
import {removeCriPod, runCriPod, type CriPod} from '../../support/cri-pods.js';
import {machineState} from '../../support/machine-state.js';

const rootDir = '/var/lib/minikubelet';
const signal = AbortSignal.timeout(120_000);
const paths = runtimePaths(rootDir);
const facts: Record<string, unknown> = {};

async function start(): Promise<void> {
  const started = await startRuntime(runtimeDeps, rootDir, signal);
  const archive = '/var/lib/busybox.tar';
  await writeFile(archive, busyboxImage(await readBusybox()));
  facts.loaded = await loadImage(runtimeDeps, rootDir, archive, signal);
  facts.again = await startRuntime(runtimeDeps, rootDir, signal).then(
    again => again.alreadyRunning && again.pid === started.pid,
  );
}

async function stop(): Promise<void> {
  facts.stop = await stopRuntime(runtimeDeps, rootDir, {gracePeriodSeconds: 0}, signal);
}

async function runPods(name = 'uid'): Promise<readonly CriPod[]> {
  const cri = connectCri(`unix://${paths.socket}`);
  try {
    // A mount made after the daemon started, below <root>/pods as volumes are.
    const volume = `${paths.podsDir}/${name}-a/volumes/v`;
    mkdirSync(volume, {recursive: true});
    const record = {uid: `${name}-a`, namespace: 'default', name, endpoint: `unix://${paths.socket}`, cgroup: ''};
    await instanceRecords(rootDir).pods.put(record.uid, record);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', volume]);
    await writeFile(`${volume}/file`, 'from the host');
    const a = await runCriPod(
      cri,
      {
        uid: `${name}-a`,
        command: ['sleep', '1000'],
        logDirectory: '/var/lib/logs',
        hostPort: name === 'uid' ? 18080 : 18081,
        mounts: [{hostPath: volume, containerPath: '/v'}],
      },
      signal,
    );
    const read = await cri.runtime.execSync(a.container, ['cat', '/v/file'], 0, signal);
    facts.volumeSeen = Buffer.from(read.stdout).toString();
    const b = await runCriPod(
      cri,
      {uid: `${name}-b`, command: ['sleep', '1000'], logDirectory: '/var/lib/logs'},
      signal,
    );
    return [a, b];
  } finally {
    cri.close();
  }
}

async function removePods(pods: readonly CriPod[]): Promise<void> {
  const cri = connectCri(`unix://${paths.socket}`);
  for (const pod of pods) await removeCriPod(cri, pod, signal);
  cri.close();
}

/** Ends processes at once and waits until they are gone. */
async function kill(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  while (pids.some(pid => identifyProcess(pid) !== null)) await runtimeDeps.clock.sleep(5, signal);
}

async function pidsOf(program: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number);
  return pids.filter(pid => processArguments(pid)[0]?.endsWith(program));
}

async function killDaemon(): Promise<void> {
  await kill(await pidsOf('/containerd'));
  const state = await runtimeState(rootDir);
  facts.afterKill = state.state;
}

async function containers(): Promise<readonly string[]> {
  const cri = connectCri(`unix://${paths.socket}`);
  try {
    const found = await cri.runtime.listContainers(undefined, signal);
    return found.map(container => `${container.id} ${container.state}`).toSorted();
  } finally {
    cri.close();
  }
}

const scenarios: Record<string, () => Promise<void>> = {
  'nothing ran': () => Promise.resolve(),
  'pods ran': async () => removePods(await runPods()),
  'the host forwards nothing': async () => {
    await runPods();
    facts.forwarding = execFileSync('iptables', ['-S', 'FORWARD'])
      .toString()
      .split('\n')
      .filter(rule => rule.includes('ACCEPT')).length;
  },
  'pods still run': async () => {
    await runPods();
  },
  'a bridge of a deleted root directory is there': async () => removePods(await runPods()),
  'containerd was killed': async () => {
    await runPods();
    await killDaemon();
  },
  'containerd was killed and started again': async () => {
    await runPods();
    const before = await containers();
    await killDaemon();
    await startRuntime(runtimeDeps, rootDir, signal);
    facts.survived = JSON.stringify(await containers()) === JSON.stringify(before);
    facts.podsShared = mountAt(readMountinfo(), paths.podsDir)?.peerGroup !== null;
    await runPods('later');
  },
  'everything was killed and containerd is gone': async () => {
    await runPods();
    await kill([...(await pidsOf('/containerd')), ...(await pidsOf('containerd-shim-runc-v2'))]);
    // Without containerd on the PATH nothing can take the pods down in order.
    process.env.PATH = '/nowhere';
    mkdirSync('/var/lib/empty');
    for (const dir of ['/usr/local/sbin', '/usr/local/bin'])
      execFileSync('/usr/bin/mount', ['--bind', '/var/lib/empty', dir]);
    execFileSync('/usr/bin/mount', ['--bind', '/dev/null', '/usr/bin/containerd']);
    facts.unmountLater = ['/usr/bin/containerd', '/usr/local/bin', '/usr/local/sbin'];
  },
};

/** Mounts of other tests vanish with their directories, in every namespace that has a copy: some while we look at them. */
function unmountOthers(): void {
  for (const {mountPoint} of mountsUnder(readMountinfo(), '/tmp')) {
    try {
      execFileSync('umount', ['--lazy', mountPoint], {stdio: 'pipe'});
    } catch (error) {
      if (readMountinfo().some(mount => mount.mountPoint === mountPoint)) throw error;
    }
  }
}

unmountOthers();

const name = process.argv[2] ?? '';
if (name === 'the host forwards nothing') execFileSync('iptables', ['--policy', 'FORWARD', 'DROP']);
const before = await machineState();
if (name === 'a bridge of a deleted root directory is there') {
  execFileSync('busybox', ['ip', 'link', 'add', paths.bridge, 'type', 'bridge']);
  execFileSync('busybox', ['ip', 'addr', 'add', '10.255.0.1/22', 'dev', paths.bridge]);
}
await start();
await scenarios[name]?.();
await stop();
for (const path of (facts.unmountLater as string[] | undefined) ?? []) execFileSync('/usr/bin/umount', [path]);
const after = await machineState();
const second = await stopRuntime(runtimeDeps, rootDir, {}, signal);
process.stdout.write(JSON.stringify({before, after, facts: {...facts, stoppedTwice: second.stopped}}));
