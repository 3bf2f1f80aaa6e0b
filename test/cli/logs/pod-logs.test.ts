import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {logRequest} from '../../../src/cli/logs/logs.js';
import {chooseLogs, writeLogs, type LogTarget} from '../../../src/cli/logs/pod-logs.js';
import {HostError, UsageError} from '../../../src/core/errors.js';
import {containerId} from '../../../src/core/runtime-status/types.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {
  aContainer,
  aPod,
  aPodStatus,
  nothingYet,
  withContainers,
  withInitContainers,
  withInstance,
  withMetadata,
} from '../../support/builders.js';

const pod = aPod(withInitContainers('setup'), withContainers('main', aContainer('side')));
const status = aPodStatus(
  pod,
  nothingYet,
  withInstance('setup', {logPath: '/logs/setup/0.log'}),
  withInstance('main', {logPath: '/logs/main/0.log', restartCount: 0}),
  withInstance('main', {logPath: '/logs/main/1.log', restartCount: 1}),
);
const paths = (choice: Partial<Parameters<typeof chooseLogs>[2]>): readonly string[] =>
  chooseLogs(pod, status, {all: false, previous: false, ...choice}).targets.map(({path}) => path);

describe('which log is meant', () => {
  test('the first container, with a word that it was not named', () => {
    const chosen = chooseLogs(pod, status, {all: false, previous: false});
    expect(chosen.targets.map(({path}) => path)).toEqual(['/logs/main/1.log']);
    expect(chosen.note).toBe('Defaulted container "main" out of: main, side, setup');
  });

  test('the one that the pod names as its default', () => {
    const annotations = {'kubectl.kubernetes.io/default-container': 'setup'};
    const chosen = chooseLogs(aPod(withInitContainers('setup'), withMetadata({annotations})), status, {
      all: false,
      previous: false,
    });
    expect(chosen.targets[0]?.container).toBe('setup');
    expect(chosen.note).toBeNull();
  });

  test('a named one, the instance before, or all that have started', () => {
    expect(paths({container: 'setup'})).toEqual(['/logs/setup/0.log']);
    expect(paths({container: 'main', previous: true})).toEqual(['/logs/main/0.log']);
    expect(paths({all: true})).toEqual(['/logs/main/1.log', '/logs/setup/0.log']);
  });

  test('what there is not is refused with what there is', () => {
    expect(() => paths({container: 'nope'})).toThrow('there is no container "nope" in pod "default/web-node1"');
    expect(() => paths({container: 'side'})).toThrow('has not been started');
    expect(() => paths({container: 'setup', previous: true})).toThrow('has no previous instance');
  });
});

describe('the words of logs', () => {
  const flags = {
    'all-containers': false,
    follow: false,
    previous: false,
    timestamps: false,
    prefix: false,
    nodeName: 'n',
  };
  test('a pod or labels, never both, never neither', () => {
    expect(() => logRequest({}, flags)).toThrow(UsageError);
    expect(() => logRequest({pod: 'web'}, {...flags, selector: 'a=b'})).toThrow(UsageError);
    expect(() => logRequest({pod: 'web', container: 'a'}, {...flags, container: 'b'})).toThrow('named twice');
    expect(() => logRequest({pod: 'web'}, {...flags, 'since-time': 'soon'})).toThrow('"soon" is not a time');
  });
  test('all lines of one pod, the last ten of many', () => {
    expect(logRequest({pod: 'web'}, flags).options.tailLines).toBeUndefined();
    expect(logRequest({}, {...flags, selector: 'a=b'}).options.tailLines).toBe(10);
    expect(logRequest({pod: 'web'}, {...flags, tail: 3, since: 90_000}).options).toMatchObject({
      tailLines: 3,
      sinceSeconds: 90,
    });
  });
});

describe('logs are written', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'mk-logs-'));
    const line = (text: string): string => `2026-03-01T12:00:00.000000000Z stdout F ${text}\n`;
    await writeFile(join(dir, 'a.log'), line('one') + line('two'));
    await writeFile(join(dir, 'b.log'), line('three'));
    await writeFile(join(dir, 'broken.log'), 'no log line\n');
  });
  afterAll(() => rm(dir, {recursive: true}));

  const runtime = new FakeRuntime();
  const target = (file: string): LogTarget => ({
    pod: {uid: 'u', name: 'web', namespace: 'default'},
    container: file.replace('.log', ''),
    id: containerId('containerd', 'x'),
    path: join(dir, file),
  });
  const write = async (files: readonly string[], prefix: boolean): Promise<string> => {
    const chunks: Uint8Array[] = [];
    const deps = {runtime, clock: runtime.clock, write: (text: Uint8Array) => Promise.resolve(void chunks.push(text))};
    await writeLogs(deps, files.map(target), {prefix}, new AbortController().signal);
    return Buffer.concat(chunks).toString();
  };

  test('one after the other', async () => {
    expect(await write(['a.log', 'b.log'], false)).toBe('one\ntwo\nthree\n');
  });

  test('with pod and container before each line', async () => {
    expect(await write(['a.log', 'b.log'], true)).toBe('[pod/web/a] one\n[pod/web/a] two\n[pod/web/b] three\n');
  });

  test('a file that is gone or is no log is told as a trouble of the host', async () => {
    await expect(write(['missing.log'], false)).rejects.toThrow(HostError);
    await expect(write(['broken.log'], false)).rejects.toThrow('the log of container "broken" cannot be read');
  });
});
