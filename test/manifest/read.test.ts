import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type {AddressInfo} from 'node:net';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import {UsageError} from '../../src/core/errors.js';
import {readManifests, type ReadOptions} from '../../src/manifest/read.js';
import type {ManifestSet} from '../../src/manifest/types.js';

const pod = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: "i:1"}]}\n`;

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'manifest-read-'));
afterAll(() => fs.rmSync(root, {recursive: true}));

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(root, 'case-'));
});

function write(name: string, content: string | Uint8Array): string {
  const file = path.join(dir, name);
  fs.mkdirSync(path.dirname(file), {recursive: true});
  fs.writeFileSync(file, content);
  return file;
}

function read(paths: readonly string[], options: Partial<ReadOptions> = {}): Promise<ManifestSet> {
  return readManifests(paths, {
    nodeName: 'box',
    validate: 'strict',
    requireReferences: true,
    readStdin: () => Promise.reject(new Error('nothing on standard input')),
    signal: new AbortController().signal,
    ...options,
  });
}

const podNames = (set: ManifestSet): readonly string[] => set.pods.map(entry => entry.pod.metadata.name);
const details = (set: ManifestSet): readonly string[] =>
  set.problems.map(({position, detail}) => `${path.basename(position.file)}: ${detail}`);

describe('a directory', () => {
  test('gives every file in it whatever its extension, by name, but dot files and what is deeper', async () => {
    write('b.yaml', pod('b'));
    write('a', pod('a'));
    write('c.yaml~', pod('c'));
    write('Z.txt', pod('z'));
    write('.hidden.yaml', pod('hidden'));
    write('sub/d.yaml', pod('d'));
    const set = await read([dir]);
    expect(podNames(set)).toEqual(['z-box', 'a-box', 'b-box', 'c-box']);
    expect(set.files.map(file => path.basename(file))).toEqual(['Z.txt', 'a', 'b.yaml', 'c.yaml~']);
  });

  test('gives what links in it lead to', async () => {
    const target = write('real/pod.yaml', pod('web'));
    fs.symlinkSync(target, path.join(dir, 'link.yaml'));
    fs.symlinkSync(path.join(dir, 'real'), path.join(dir, 'linked-dir'));
    const set = await read([dir]);
    expect(podNames(set)).toEqual(['web-box']);
    expect(set.pods[0]?.position.file).toBe(path.join(dir, 'link.yaml'));
  });

  test('without manifests is no error', async () => {
    expect(await read([dir])).toMatchObject({pods: [], problems: [], files: []});
  });

  test('says which of its files cannot be read, and reads the others', async () => {
    write('good.yaml', pod('good'));
    fs.symlinkSync(path.join(dir, 'nowhere'), path.join(dir, 'dangling.yaml'));
    fs.symlinkSync('loop.yaml', path.join(dir, 'loop.yaml'));
    const set = await read([dir]);
    expect(details(set)).toEqual([
      'dangling.yaml: is a link to a file that does not exist',
      'loop.yaml: cannot be read: ELOOP',
    ]);
    expect(set.brokenFiles).toEqual(['dangling.yaml', 'loop.yaml'].map(name => path.join(dir, name)));
    expect(podNames(set)).toEqual(['good-box']);
  });
});

describe('a file', () => {
  test('is known by its absolute path, however it was named', async () => {
    const file = write('web.yaml', pod('web'));
    const [absolute] = (await read([file])).pods;
    const [relative] = (await read([path.relative(process.cwd(), file)])).pods;
    expect(relative).toEqual(absolute);
    expect(absolute?.position.file).toBe(file);
  });

  test('counts even if its name begins with a dot', async () => {
    expect(podNames(await read([write('.web.yaml', pod('web'))]))).toEqual(['web-box']);
  });

  test('that is named twice is read once', async () => {
    const file = write('web.yaml', pod('web'));
    expect(await read([file, dir])).toMatchObject({files: [file], problems: []});
  });

  test('that does not exist is a mistake of the command line', async () => {
    await expect(read([path.join(dir, 'nope.yaml')])).rejects.toThrow(UsageError);
    await expect(read([path.join(write('a.yaml', pod('a')), 'b')])).rejects.toThrow(/no such file or directory/);
  });

  test.for<[string, string | Uint8Array, RegExp]>([
    ['binary', Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 1, 2), /^a: .*binary/],
    ['not UTF-8', Uint8Array.of(0x61, 0x3a, 0x20, 0xff, 0xfe), /^a: .*not UTF-8/],
    ['50 MB', new Uint8Array(50_000_000).fill(0x61), /^a: is larger than 10 MiB/],
    ['cut off', pod('web').slice(0, 90), /^a: /],
    [
      'a billion laughs',
      [
        'a: &a [x]',
        ...Array.from(
          {length: 12},
          (_, n) => `k${n}: &k${n} [${'*a, '.repeat(9)}${n > 0 ? `*k${n - 1}, `.repeat(9) : ''}]`,
        ),
      ].join('\n'),
      /^a: document contains excessive aliasing/,
    ],
  ])('that is %s is broken, with a reason', async ([, content, want]) => {
    const file = write('a', content);
    const set = await read([file]);
    expect(details(set)).toEqual([expect.stringMatching(want)]);
    expect(set.brokenFiles).toEqual([file]);
  });
});

describe('standard input', () => {
  test('is read by the name of -', async () => {
    const set = await read(['-'], {readStdin: () => Promise.resolve(Buffer.from(pod('web')))});
    expect(set.pods.map(({position}) => position)).toEqual([{file: '-', line: 1}]);
  });
});

describe('a URL', () => {
  const server = http.createServer((request, response) => {
    if (request.url === '/pod') response.end(pod('web'));
    else if (request.url === '/moved') response.writeHead(302, {location: '/pod'}).end();
    else if (request.url === '/empty') response.end();
    else if (request.url === '/big') response.end(Buffer.alloc(11 * 1024 * 1024, 0x20));
    else response.writeHead(404).end('no');
  });
  let base: string;
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test.for(['/pod', '/moved'])('%s gives its pods, which tolerate nothing more than they say', async url => {
    const set = await read([base + url]);
    expect(set.pods.map(({position}) => position.file)).toEqual([base + url]);
    expect(set.pods[0]?.pod.spec.tolerations).toBeUndefined();
  });

  test.for([
    ['/missing', /answers with status 404/],
    ['/empty', /answers with nothing/],
    ['/big', /larger than 10 MiB/],
  ] as const)('%s is broken, with a reason', async ([url, want]) => {
    const set = await read([base + url]);
    expect(set.problems.map(({detail}) => detail)).toEqual([expect.stringMatching(want)]);
    expect(set.brokenFiles).toEqual([base + url]);
  });

  test('where nobody listens is broken, with a reason', async () => {
    const set = await read(['http://127.0.0.1:1/']);
    expect(set.problems[0]?.detail).toMatch(/cannot be fetched: .*(ECONNREFUSED|refused|bad port)/);
  });

  test('is given up when the signal aborts', async () => {
    await expect(read([`${base}/pod`], {signal: AbortSignal.abort(new Error('enough'))})).rejects.toThrow('enough');
  });
});
