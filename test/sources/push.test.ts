// The push store on a real directory.
import {mkdtemp, readdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {HostError, ManifestError, UsageError} from '../../src/core/errors.js';
import {openPushStore, type PushStore} from '../../src/sources/push.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {interpretForTests, podYaml} from '../support/manifests.js';

let directory: string;
const web = {namespace: 'default', name: 'web'};
const body = (text: string): Uint8Array => Buffer.from(text);
const open = (): Promise<PushStore> => openPushStore({directory, clock: new FakeClock(), interpret: interpretForTests});
const names = (store: PushStore): string[] => store.list().map(({pod}) => pod.metadata.name);

beforeEach(async () => {
  directory = path.join(await mkdtemp(path.join(tmpdir(), 'mk-push-')), 'server');
});
afterEach(() => rm(path.dirname(directory), {recursive: true, force: true}));

test('what is put is there, for the next process too, until it is deleted', async () => {
  const store = await open();
  expect(await store.put(web, body(podYaml('web')))).toBe('created');
  expect(await store.put(web, body(podYaml('web', 'busybox:2')))).toBe('updated');
  const again = await open();
  expect(again.list()[0]?.pod.spec.containers[0]?.image).toBe('busybox:2');
  expect(await again.delete(web)).toBe(true);
  expect(await again.delete(web)).toBe(false);
  expect(names(await open())).toEqual([]);
});

test('a snapshot comes at once, so that an empty store has delivered, and after each change', async () => {
  const store = await open();
  const snapshots = store.snapshots(new AbortController().signal);
  expect((await snapshots.next()).value).toMatchObject({source: 'server', pods: []});
  const coming = snapshots.next();
  await store.put(web, body(podYaml('web')));
  expect((await coming).value.pods).toHaveLength(1);
});

test.for<[string, string, RegExp]>([
  ['no YAML', '{"kind":', /./],
  ['another kind', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}', /exactly one pod/],
  ['two pods', `${podYaml('web')}---\n${podYaml('job')}`, /exactly one pod/],
  ['another name', podYaml('job'), /called job/],
  ['an invalid pod', 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: []}', /./],
  ['an unknown field', podYaml('web').replace('image:', 'imagge:'), /imagge/],
])('a body with %s is refused and changes nothing', async ([, text, message]) => {
  const store = await open();
  await store.put(web, body(podYaml('web')));
  const refusal: unknown = await store.put(web, body(text)).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ManifestError);
  expect((refusal as ManifestError).problems.map(({path, detail}) => `${path} ${detail}`).join()).toMatch(message);
  expect(names(await open())).toEqual(['web-node1']);
});

test.for(['../etc', 'A', '', 'a/b', 'x'.repeat(254)])('%j is no name of a pod', async name => {
  const store = await open();
  await expect(store.put({namespace: 'default', name}, body(podYaml('web')))).rejects.toBeInstanceOf(UsageError);
});

test('what cannot be kept on disk is refused and not run', async () => {
  const store = await open();
  await rm(directory, {recursive: true});
  await writeFile(directory, 'in the way');
  await expect(store.put(web, body(podYaml('web')))).rejects.toBeInstanceOf(HostError);
  expect(names(store)).toEqual([]);
});

test('a write that was cut off leaves no half a manifest behind', async () => {
  const store = await open();
  await store.put(web, body(podYaml('web')));
  await writeFile(path.join(directory, 'default_web.manifest.new'), 'half');
  expect(names(await open())).toEqual(['web-node1']);
  expect((await readdir(directory)).filter(name => name.endsWith('.manifest'))).toHaveLength(1);
});
