import {existsSync} from 'node:fs';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {etcdRequest, headersOf, sourcesOf, type SourcesRequest} from '../../../src/cli/watch/watch-sources.js';
import {UsageError} from '../../../src/core/errors.js';
import {FakeClock} from '../../fakes/fake-clock.js';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mk-watch-'));
  await writeFile(join(dir, 'password'), 'secret\n');
});
afterAll(() => rm(dir, {recursive: true}));

const request: SourcesRequest = {
  paths: [],
  urlHeaders: {},
  fileCheckMs: 20_000,
  httpCheckMs: 20_000,
  etcd: null,
  nodeName: 'box',
  validate: 'strict',
};
const namesOf = async (change: Partial<SourcesRequest>): Promise<readonly string[]> => {
  const sources = await sourcesOf(
    {...request, ...change},
    {rootDir: dir, clock: new FakeClock(), report: () => undefined},
  );
  return sources.map(({name}) => name);
};

test('each path and URL is a source of its own name, so that none overwrites another', async () => {
  expect(await namesOf({paths: ['/a', '/b', 'http://x/', 'https://y/', '/c']})).toEqual([
    'file',
    'file-2',
    'http',
    'http-2',
    'file-3',
  ]);
});

test('with nothing named, <root-dir>/manifests is made and followed', async () => {
  expect(await namesOf({})).toEqual(['file']);
  expect(existsSync(join(dir, 'manifests'))).toBe(true);
});

test('etcd alone is enough, and comes last beside others', async () => {
  const etcd = {endpoints: ['h:2379'], prefix: '/p/', credentials: {}};
  expect(await namesOf({etcd})).toEqual(['etcd']);
  expect(await namesOf({etcd, paths: ['/a']})).toEqual(['file', 'etcd']);
});

test('standard input cannot be watched', async () => {
  await expect(namesOf({paths: ['-']})).rejects.toThrow(UsageError);
});

test('a second directory delivers under its own name', async () => {
  await writeFile(
    join(dir, 'pod.yaml'),
    'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: b:1}]}\n',
  );
  const clock = new FakeClock();
  const [, second] = await sourcesOf(
    {...request, paths: ['/nowhere', join(dir, 'pod.yaml')]},
    {rootDir: dir, clock, report: () => undefined},
  );
  const stop = new AbortController();
  const snapshots = second!.snapshots(stop.signal)[Symbol.asyncIterator]();
  let first: unknown;
  void snapshots.next().then(next => {
    first = next.value;
  });
  while (first === undefined) await clock.advance(25);
  expect(first).toMatchObject({source: 'file-2', pods: [{pod: {metadata: {name: 'a-box'}}}]});
  stop.abort(new Error('enough'));
});

test('etcd’s credentials come from files, and a name needs a password', () => {
  const base = {'etcd-endpoints': ['h:2379'], 'etcd-prefix': '/p/'};
  expect(etcdRequest({'etcd-prefix': '/p/'})).toBeNull();
  expect(etcdRequest(base)).toEqual({endpoints: ['h:2379'], prefix: '/p/', credentials: {}});
  expect(etcdRequest({...base, 'etcd-user': 'u', 'etcd-password-file': join(dir, 'password')})?.credentials).toEqual({
    user: {name: 'u', password: 'secret'},
  });
  expect(() => etcdRequest({...base, 'etcd-user': 'u'})).toThrow('--etcd-user needs --etcd-password-file');
  expect(() => etcdRequest({...base, 'etcd-cafile': '/nope'})).toThrow('--etcd-cafile: /nope cannot be read');
});

test('headers are NAME:VALUE, and values may hold colons', () => {
  expect(headersOf('--h', ['Authorization: Bearer a:b', 'X:'])).toEqual({Authorization: 'Bearer a:b', X: ''});
  expect(() => headersOf('--h', ['nonsense'])).toThrow('--h: "nonsense" is not NAME:VALUE');
});
