// Which of the manifests in a containerd is the one of an image that is being pulled, and how much of it is there.
// Facts: containerd core/remotes (refs of what is on its way) and core/remotes/docker/handler.go (the label of origin).
import type {Info, Status} from '../../cri/gen/containerd-content.js';
import {parseImageReference} from './image-reference.js';

/** How much of an image is there: its config and its layers as they are stored, in bytes. */
export interface PullBytes {
  readonly done: number;
  readonly total: number;
}

/** Where a pull gets its image from, as far as containerd notes it. */
export interface PullOrigin {
  /** e.g. docker.io; without a port, for containerd notes none. */
  readonly host: string;
  /** e.g. library/busybox */
  readonly path: string;
  /** '' = a tag says which. */
  readonly digest: string;
  /** The same text for the same image. */
  readonly key: string;
}

/** A pull that runs now. */
export interface RunningPull {
  readonly origin: PullOrigin;
  /** When it began, ms since the epoch. */
  readonly since: number;
  /** Digest of its manifest, once it is known. */
  readonly manifest: string | null;
}

/** The config and the layers of an image: their sizes in bytes by digest. */
export type ManifestBlobs = ReadonlyMap<string, number>;

/** null = the image cannot be named like this. */
export function pullOrigin(image: string): PullOrigin | null {
  const parsed = parseImageReference(image);
  if (!parsed.ok) return null;
  const {repository, tag, digest} = parsed.reference;
  const slash = repository.indexOf('/');
  return {
    host: repository.slice(0, slash).replace(/:\d+$/, ''),
    path: repository.slice(slash + 1),
    digest,
    // With a digest the tag means nothing.
    key: digest === '' ? `${repository}:${tag}` : `${repository}@${digest}`,
  };
}

const ORIGIN = 'containerd.io/distribution.source';
const CHILD = 'containerd.io/gc.ref.content';
const CHILD_CONFIG = `${CHILD}.config`;

/** Filters of containerd's List for the manifests of a repository, and for the blob that a digest names. */
export function manifestFilters({host, path, digest}: PullOrigin): readonly string[] {
  // A dot of the path matches anything here; whoever reads the answer looks again.
  const ofRepository = `labels."${ORIGIN}.${host}"~="(^|,)${path}(,|$)",labels."${CHILD_CONFIG}"`;
  return [ofRepository, ...(digest === '' ? [] : [blobFilter(digest)])];
}

/** Filter of containerd's List for one blob. */
export function blobFilter(digest: string): string {
  return `digest=="${digest}"`;
}

/**
 * The digest of the manifest that `pull` is about, null when that is not known: there is none yet, or several come into
 * question. A pull writes the label of origin anew on whatever it uses, so older manifests of the repository do not count.
 * Tags of one repository that are pulled at the same time are told apart by which manifest came while one of them ran
 * alone. `blobs` is what manifestFilters select, with their times.
 */
export function chooseManifest(
  pull: RunningPull,
  running: readonly RunningPull[],
  blobs: readonly Info[],
): string | null {
  const others = running.filter(({origin}) => origin.key !== pull.origin.key);
  const twin = running.find(({origin, manifest}) => origin.key === pull.origin.key && manifest !== null);
  if (twin !== undefined) return twin.manifest;
  const [named, tagged] = [others.filter(isNamed), others.filter(other => !isNamed(other))];
  const taken = new Set([...tagged.map(other => other.manifest), ...named.flatMap(other => candidates(other, blobs))]);
  const found = candidates(pull, blobs).filter(digest => isNamed(pull) || !taken.has(digest));
  const [only] = found;
  if (only === undefined || found.length > 1) return null;
  if (isNamed(pull)) return only;
  const rivals = tagged.filter(other => other.manifest === null && candidates(other, blobs).includes(only));
  return rivals.length === 0 ? only : null;
}

/** A digest says for certain which image it is. */
function isNamed({origin}: RunningPull): boolean {
  return origin.digest !== '';
}

function candidates({origin, since}: RunningPull, blobs: readonly Info[]): readonly string[] {
  const named = origin.digest === '' ? null : blobs.find(({digest}) => digest === origin.digest);
  if (named === undefined) return [];
  // A digest names a manifest, or an index of several.
  const allowed = named === null ? null : new Set([named.digest, ...childrenOf(named)]);
  return blobs
    .filter(({labels}) => CHILD_CONFIG in labels && reposOf(labels, origin.host).includes(origin.path))
    .filter(
      ({updatedAt}) => updatedAt !== undefined && Number(updatedAt.seconds) * 1000 + updatedAt.nanos / 1e6 >= since,
    )
    .map(({digest}) => digest)
    .filter(digest => allowed === null || allowed.has(digest));
}

function reposOf(labels: Info['labels'], host: string): readonly string[] {
  return (labels[`${ORIGIN}.${host}`] ?? '').split(',');
}

function childrenOf({labels}: Info): readonly string[] {
  return Object.keys(labels).flatMap(key => (key.startsWith(`${CHILD}.`) ? [labels[key] ?? ''] : []));
}

/** Reads a manifest, OCI's or Docker's; null = it is something else. */
export function readManifest(text: string): ManifestBlobs | null {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(manifest) || !Array.isArray(manifest['layers'])) return null;
  const blobs = new Map<string, number>();
  for (const descriptor of [manifest['config'], ...(manifest['layers'] as readonly unknown[])]) {
    if (!isObject(descriptor)) return null;
    const {digest, size} = descriptor;
    if (typeof digest !== 'string' || typeof size !== 'number') return null;
    blobs.set(digest, size);
  }
  return blobs;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** How much there is of each blob on its way, by digest. */
export function arriving(statuses: readonly Status[]): ReadonlyMap<string, number> {
  return new Map(
    statuses.flatMap(({ref, offset}) => {
      const digest = /[a-z0-9]+:[0-9a-f]{32,}$/.exec(ref)?.[0];
      return digest === undefined ? [] : [[digest, Number(offset)] as const];
    }),
  );
}

/** `present`: digests of what is there in whole. */
export function pulledBytes(
  blobs: ManifestBlobs,
  present: ReadonlySet<string>,
  coming: ReadonlyMap<string, number>,
): PullBytes {
  let done = 0;
  let total = 0;
  for (const [digest, size] of blobs) {
    total += size;
    done += present.has(digest) ? size : Math.min(coming.get(digest) ?? 0, size);
  }
  return {done, total};
}
