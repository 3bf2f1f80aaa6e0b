// `runtime start` and `runtime stop` leave the machine as it was: compared as a whole, in namespaces where nobody else acts.
import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {noRuntimeReason} from '../support/embedded-runtime.js';
import type {MachineState} from '../support/machine-state.js';

interface Outcome {
  readonly before: MachineState;
  readonly after: MachineState;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Own processes, network and mounts; own /run and /var/lib, so that what is written there is seen. */
async function runScenario(name: string, propagation: 'private' | 'shared'): Promise<Outcome> {
  const script = [
    `mount --make-r${propagation} /`,
    'mount -t tmpfs tmpfs /run',
    'mount -t tmpfs tmpfs /var/lib',
    'busybox ip link set lo up',
    'exec "$0" --import tsx test/e2e/embedded-runtime/scenarios.ts "$1"',
  ].join(' && ');
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const {stdout} = await promisify(execFile)(
    'unshare',
    [...namespaces, '--', 'sh', '-c', script, process.execPath, name],
    {maxBuffer: 64 * 1024 * 1024},
  );
  return JSON.parse(stdout) as Outcome;
}

const WHERE_MOUNTS_MATTER = [
  'pods still run',
  'containerd was killed and started again',
  'everything was killed and containerd is gone',
];
const EVERYWHERE = [
  'nothing ran',
  'pods ran',
  'the host forwards nothing',
  'a bridge of a deleted root directory is there',
  'containerd was killed',
  ...WHERE_MOUNTS_MATTER,
];

describe.skipIf(noRuntimeReason !== null)('the embedded runtime', () => {
  test.for([
    ...EVERYWHERE.map(name => [name, 'private'] as const),
    ...WHERE_MOUNTS_MATTER.map(name => [name, 'shared'] as const),
  ])('leaves nothing behind when %s, where / is %s', async ([name, propagation]) => {
    const {before, after, facts} = await runScenario(name, propagation);
    expect(after).toEqual(before);
    expect(facts).toMatchObject({again: true, loaded: ['docker.io/library/busybox:1.36'], stoppedTwice: false});
    if (name !== 'nothing ran') expect(facts).toMatchObject({volumeSeen: 'from the host'});
    if (name.includes('was killed') && !name.includes('everything')) expect(facts).toMatchObject({afterKill: 'dead'});
    if (name.includes('forwards')) expect(facts).toMatchObject({forwarding: 2});
    if (name.includes('started again')) expect(facts).toMatchObject({survived: true, podsShared: true});
  });
});
