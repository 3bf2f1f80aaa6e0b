import {describe, expect, test} from 'vitest';
import {
  arriving,
  blobFilter,
  chooseManifest,
  manifestFilters,
  pulledBytes,
  pullOrigin,
  readManifest,
  type PullOrigin,
  type RunningPull,
} from '../../../src/core/images/pull-progress.js';
import type {Info} from '../../../src/cri/gen/containerd-content.js';

const hex = (digit: string): string => digit.repeat(64);
const sha = (digit: string): string => `sha256:${hex(digit)}`;

function origin(image: string): PullOrigin {
  const found = pullOrigin(image);
  if (found === null) throw new Error(`no image name: ${image}`);
  return found;
}

const SINCE = 1_700_000_000_500;

function pull(image: string, manifest: string | null = null): RunningPull {
  return {origin: origin(image), since: SINCE, manifest};
}

interface BlobWords {
  readonly host?: string;
  /** The label of origin. */
  readonly repos?: string;
  /** ms after the pull began. */
  readonly touched?: number;
  readonly children?: Readonly<Record<string, string>>;
}

/** A manifest of docker.io/library/app that a pull has touched. */
function blob(digit: string, words: BlobWords = {}): Info {
  const {
    host = 'docker.io',
    repos = 'library/app',
    touched = 10,
    children = {config: sha('c'), 'l.0': sha('d')},
  } = words;
  const at = SINCE + touched;
  const refs = Object.entries(children).map(([key, digest]) => [`containerd.io/gc.ref.content.${key}`, digest]);
  return {
    digest: sha(digit),
    size: 400n,
    createdAt: undefined,
    updatedAt: {seconds: BigInt(Math.floor(at / 1000)), nanos: (at % 1000) * 1_000_000},
    labels: {[`containerd.io/distribution.source.${host}`]: repos, ...(Object.fromEntries(refs) as Info['labels'])},
  };
}

describe('where a pull gets its image from', () => {
  test.for([
    ['busybox', 'docker.io', 'library/busybox', ''],
    ['team/app:1', 'docker.io', 'team/app', ''],
    ['quay.io/team/app:1', 'quay.io', 'team/app', ''],
    ['127.0.0.1:5000/app:1', '127.0.0.1', 'app', ''],
    ['localhost/app', 'localhost', 'app', ''],
    [`app:1@${sha('a')}`, 'docker.io', 'library/app', sha('a')],
  ] as const)('%s: host %s, path %s', ([image, host, path, digest]) => {
    expect(pullOrigin(image)).toMatchObject({host, path, digest});
  });

  test.for([
    ['app', 'docker.io/library/app:latest', true],
    ['app:1', 'app:2', false],
    ['127.0.0.1:5000/app:1', '127.0.0.1:5001/app:1', false],
    [`app:1@${sha('a')}`, `app:2@${sha('a')}`, true],
    [`app@${sha('a')}`, `app@${sha('b')}`, false],
  ] as const)('%s and %s are the same image: %s', ([left, right, same]) => {
    expect(origin(left).key === origin(right).key).toBe(same);
  });

  test('is unknown for what is no image name', () => {
    expect(pullOrigin('No Image')).toBeNull();
  });

  test('says what to ask containerd for', () => {
    const label = 'labels."containerd.io/distribution.source.docker.io"~="(^|,)library/app(,|$)"';
    const manifests = `${label},labels."containerd.io/gc.ref.content.config"`;
    expect(manifestFilters(origin('app:1'))).toEqual([manifests]);
    expect(manifestFilters(origin(`app@${sha('a')}`))).toEqual([manifests, `digest=="${sha('a')}"`]);
    expect(blobFilter(sha('a'))).toBe(`digest=="${sha('a')}"`);
  });
});

describe('the manifest of a pull', () => {
  const index = blob('1', {children: {'m.0': sha('a')}});
  test.for<[string, RunningPull, readonly RunningPull[], readonly Info[], string | null]>([
    ['is the one that it has touched', pull('app:2'), [], [blob('9', {touched: -1}), blob('a')], sha('a')],
    ['may be touched as the pull begins', pull('app:2'), [], [blob('a', {touched: 0})], sha('a')],
    ['is not known before the registry has told it', pull('app:2'), [], [], null],
    ['is none of an earlier pull', pull('app:2'), [], [blob('9', {touched: -1})], null],
    ['is none without a time', pull('app:2'), [], [{...blob('a'), updatedAt: undefined}], null],
    ['is none of another registry', pull('app:2'), [], [blob('a', {host: 'quay.io'})], null],
    ['is none of a repository that only looks alike', pull('a.p:1'), [], [blob('a', {repos: 'library/axp'})], null],
    ['may come from several repositories', pull('app:2'), [], [blob('a', {repos: 'library/a,library/app'})], sha('a')],
    ['is no index and no layer', pull('app:2'), [], [index, blob('d', {children: {}})], null],
    ['is found below an index', pull('app:2'), [], [index, blob('a')], sha('a')],
    ['is not guessed among two', pull('app:2'), [], [blob('a'), blob('b')], null],
    ['is the one of its digest', pull(`app@${sha('b')}`), [], [blob('a'), blob('b')], sha('b')],
    ['is the one below the index of its digest', pull(`app@${sha('1')}`), [], [blob('b'), index, blob('a')], sha('a')],
    ['is not known before the blob of its digest is there', pull(`app@${sha('1')}`), [], [blob('a')], null],
    ['is not the one of another tag', pull('app:2'), [pull('app:1', sha('a'))], [blob('a'), blob('b')], sha('b')],
    ['is not known while it may be that of another tag', pull('app:2'), [pull('app:1')], [blob('a')], null],
    ['is not that of another tag for want of a better', pull('app:2'), [pull('app:1', sha('a'))], [blob('a')], null],
    ['is that of a twin', pull('app:2'), [pull('app:2', sha('b'))], [blob('a'), blob('b')], sha('b')],
    ['is found beside a twin that knows as little', pull('app:2'), [pull('app:2')], [blob('a')], sha('a')],
    ['is known beside pulls of other repositories', pull('app:2'), [pull('other:1')], [blob('a')], sha('a')],
    [
      'is known beside a pull that names another by digest',
      pull('app:2'),
      [pull(`app@${sha('b')}`)],
      [blob('a')],
      sha('a'),
    ],
    [
      'is not the one that another names by digest',
      pull('app:2'),
      [pull(`app@${sha('b')}`)],
      [blob('a'), blob('b')],
      sha('a'),
    ],
    [
      'is certain by its digest, whatever tags come in between',
      pull(`app@${sha('b')}`),
      [pull('app:2')],
      [blob('a'), blob('b')],
      sha('b'),
    ],
    [
      'is certain by its digest, even if a tag means the same',
      pull(`app@${sha('b')}`),
      [pull('app:2', sha('b'))],
      [blob('b')],
      sha('b'),
    ],
    ['is left to the pull that names it by digest', pull('app:2'), [pull(`app@${sha('a')}`)], [blob('a')], null],
    [
      'is not known where registries differ by their port alone',
      pull('h.example:1/library/app:1'),
      [pull('h.example:2/library/app:1')],
      [blob('a', {host: 'h.example'})],
      null,
    ],
  ])('%s', ([, own, others, blobs, want]) => {
    expect(chooseManifest(own, [own, ...others], blobs)).toBe(want);
  });
});

describe('what a manifest asks for', () => {
  const config = {digest: sha('c'), size: 10};
  const layer = {digest: sha('d'), size: 90};
  test.for<[string, unknown, readonly (readonly [string, number])[] | null]>([
    [
      'is its config and its layers',
      {config, layers: [layer]},
      [
        [sha('c'), 10],
        [sha('d'), 90],
      ],
    ],
    [
      'counts a layer that comes twice once',
      {config, layers: [layer, layer]},
      [
        [sha('c'), 10],
        [sha('d'), 90],
      ],
    ],
    ['is nothing for an index', {manifests: [config]}, null],
    ['is nothing for layers without a size', {config, layers: [{digest: sha('d')}]}, null],
    ['is nothing without a config', {layers: [layer]}, null],
    ['is nothing for another text', 'manifest', null],
  ])('%s', ([, manifest, want]) => {
    expect(readManifest(JSON.stringify(manifest))).toEqual(want === null ? null : new Map(want));
  });

  test('is nothing for what is no JSON', () => {
    expect(readManifest('<html>')).toBeNull();
  });
});

describe('how much of an image is there', () => {
  const blobs = new Map([
    [sha('c'), 10],
    [sha('d'), 90],
    [sha('e'), 900],
  ]);
  const status = {startedAt: undefined, updatedAt: undefined, total: 0n, expected: ''};

  test.for<[string, readonly string[], Readonly<Record<string, number>>, number]>([
    ['nothing at first', [], {}, 0],
    ['what is there in whole', [sha('c'), sha('d')], {}, 100],
    ['and what has arrived of the rest', [sha('c')], {[sha('d')]: 45, [sha('e')]: 1}, 56],
    ['each blob at most in whole', [sha('c')], {[sha('c')]: 10, [sha('d')]: 1000}, 100],
    ['nothing of others', [sha('a')], {[sha('b')]: 7}, 0],
  ])('%s', ([, present, coming, done]) => {
    expect(pulledBytes(blobs, new Set(present), new Map(Object.entries(coming)))).toEqual({done, total: 1000});
  });

  test('is told by the refs of what is on its way', () => {
    const refs = [`layer-${sha('d')}`, `config-app:1@${sha('c')}`, 'upload-17', `layer-${sha('x')}`];
    const statuses = refs.map((ref, at) => ({...status, ref, offset: BigInt(at + 1)}));
    expect(arriving(statuses)).toEqual(
      new Map([
        [sha('d'), 1],
        [sha('c'), 2],
      ]),
    );
  });
});
