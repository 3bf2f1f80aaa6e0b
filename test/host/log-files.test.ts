// Logs of containers and the links to them, on real files.
import {mkdir, mkdtemp, readdir, readlink, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {linkLog, removeLog, restartCountFromLogs, type LoggedContainer} from '../../src/host/log-files.js';
import {containerLogDir, instanceDirs, type InstanceDirs} from '../../src/host/pod-dirs.js';

const pod = {namespace: 'default', name: 'web', uid: 'u1'};
let dirs: InstanceDirs;
let dir: string;
let log: LoggedContainer;

beforeEach(async () => {
  const rootDir = await mkdtemp(join(tmpdir(), 'mk-logs-'));
  onTestFinished(() => rm(rootDir, {recursive: true}));
  dirs = instanceDirs(rootDir);
  dir = containerLogDir(dirs, pod, 'main');
  await mkdir(dir, {recursive: true});
  const logPath = join(dir, '0.log');
  log = {podName: 'web', podNamespace: 'default', containerName: 'main', containerId: 'abc', logPath};
});

async function write(...names: readonly string[]): Promise<void> {
  for (const name of names) await writeFile(join(dir, name), '');
}

describe('removeLog', () => {
  test('takes the log, all that was rotated of it and its link, and nothing else', async () => {
    await write('0.log', '0.log.20260301-120000.gz', '0.log.20260301-130000', '0.log.20260301-110000.tmp');
    await write('1.log', '10.log', '0.logs', '0.log-of-another');
    linkLog(dirs, log);
    linkLog(dirs, {...log, containerId: 'def', logPath: join(dir, '1.log')});
    await removeLog(dirs, log);
    expect((await readdir(dir)).sort()).toEqual(['0.log-of-another', '0.logs', '1.log', '10.log']);
    expect(await readdir(dirs.containerLogsDir)).toEqual(['web_default_main-def.log']);
  });

  test('does not mind what is gone, and leaves the files of a container whose log is not known', async () => {
    await removeLog(dirs, log);
    await rm(dirname(dir), {recursive: true});
    await removeLog(dirs, log);
    await mkdir(dir, {recursive: true});
    await write('0.log');
    linkLog(dirs, log);
    await removeLog(dirs, {...log, logPath: ''});
    expect(await readdir(dir)).toEqual(['0.log']);
    expect(await readdir(dirs.containerLogsDir)).toEqual([]);
  });
});

test('a link is replaced, not followed', async () => {
  linkLog(dirs, {...log, logPath: '/nowhere/0.log'});
  linkLog(dirs, log);
  expect(await readdir(dirs.containerLogsDir)).toEqual(['web_default_main-abc.log']);
  expect(await readlink(join(dirs.containerLogsDir, 'web_default_main-abc.log'))).toBe(log.logPath);
});

test.for([
  [[], 0],
  [['0.log'], 1],
  [['0.log', '2.log', '10.log'], 11],
  [['3.log.20260301-120000.gz'], 4],
  [['x.log', '5.log.d', '7.txt', '8.logs'], 6],
] as const)('%j means that %i attempts have been made', async ([names, count]) => {
  await write(...names);
  expect(restartCountFromLogs(dirs, pod, 'main')).toBe(count);
});

test('no directory means no attempt', () => {
  expect(restartCountFromLogs(dirs, pod, 'other')).toBe(0);
});
