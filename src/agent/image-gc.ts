// Removes images when their disk fills up: only those that this instance has pulled itself and that nobody uses.
// Mirrors kubelet v1.36 pkg/kubelet/images/image_gc_manager.go detectImages, GarbageCollect, freeSpace.
import {statfs} from 'node:fs/promises';
import {CriError} from '../core/errors.js';
import type {Report} from '../core/events.js';
import {
  imagesToCollect,
  isImageUsed,
  type GcImage,
  type ImageGCInput,
  type ImageGCPolicy,
  type PulledImage,
} from '../core/gc-images.js';
import {parseImageReference} from '../core/images/image-reference.js';
import type {ImageService, RuntimeService} from '../cri/runtime-service.js';
import type {ImageRecord, RecordStore} from '../host/record-store.js';
import {sleepUntilTick, type Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';

export interface ImageGCDeps {
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'endpoint'>;
  readonly images: Pick<ImageService, 'listImages' | 'removeImage' | 'imageFsInfo'>;
  readonly records: RecordStore<ImageRecord>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly report: Report;
  readonly policy: ImageGCPolicy;
  /** Names of images that wanted pods mount as volumes: no container of the runtime tells of them. */
  readonly mountedImages: () => readonly string[];
  /** Called after each image that was removed. Must not throw. */
  readonly onCollected: () => void;
  /** Size of a file system and what is free of it. Default: statfs. */
  readonly diskUse?: (path: string) => Promise<ImageGCInput['fs']>;
}

/** The kubelet's ImageGCPeriod. */
const PERIOD_MS = 5 * 60_000;
/** A time of last use on disk may be this old: it orders images, it does not protect them. */
const RECORD_USE_MS = 3_600_000;

/** Collects again and again. Rejects with the signal's reason when it aborts, else only on a bug. */
export async function runImageGC(deps: ImageGCDeps, signal: AbortSignal): Promise<never> {
  for (;;) {
    await sleepUntilTick(deps.clock, PERIOD_MS, signal);
    try {
      await collectImages(deps, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CriError) && !isSystemError(error)) throw error;
      deps.logger.warn('cannot collect images', {error: error.message});
    }
  }
}

/** One round. Rejects with CriError when the runtime does not answer, with a system error when the disk does not. */
export async function collectImages(deps: ImageGCDeps, signal: AbortSignal): Promise<void> {
  const {images, runtime, clock, policy, report, diskUse = statDisk} = deps;
  const [listed, containers, filesystems] = await Promise.all([
    images.listImages(signal),
    runtime.listContainers(undefined, signal),
    images.imageFsInfo(signal),
  ]);
  const found = listed.map(({id, repoTags, repoDigests, size, pinned}): GcImage => {
    return {id, names: [...repoTags, ...repoDigests], sizeBytes: Number(size), pinned};
  });
  const usedReferences = new Set([
    ...containers.flatMap(({image, imageRef, imageId}) => [image?.image ?? '', imageRef, imageId]),
    ...deps.mountedImages().flatMap(fullNames),
  ]);
  const pulled = await updateRecords(deps, found, usedReferences);
  const mountpoint = filesystems[0]?.fsId?.mountpoint;
  if (mountpoint === undefined) return;
  const fs = await diskUse(mountpoint);
  const input = {images: found, pulled, usedReferences, fs, policy, now: clock.now()};
  const bytesMissing = await freeSpace(deps, input, signal);
  if (bytesMissing > 0) {
    const message = `Failed to garbage collect required amount of images. ${bytesMissing} bytes more were to be freed on ${mountpoint}`;
    report({kind: 'notice', at: clock.now(), level: 'warning', message});
  }
}

/** A name of a spec as runtimes list it: docker.io/library/busybox:1.36 for busybox:1.36. */
function fullNames(image: string): readonly string[] {
  const parsed = parseImageReference(image);
  if (!parsed.ok) return [image];
  const {repository, tag, digest} = parsed.reference;
  return [image, `${repository}:${tag}`, `${repository}@${digest}`];
}

/** Answers bytes that no image could give. One that cannot be removed is passed over. */
async function freeSpace(deps: ImageGCDeps, input: ImageGCInput, signal: AbortSignal): Promise<number> {
  const decision = imagesToCollect(input);
  const [id] = decision.remove;
  if (id === undefined) return decision.bytesMissing;
  const image = input.images.find(one => one.id === id);
  const freed = (await removeImage(deps, id, signal)) ? (image?.sizeBytes ?? 0) : 0;
  const {fs, policy} = input;
  return freeSpace(
    deps,
    {
      ...input,
      pulled: new Map([...input.pulled].filter(([other]) => other !== id)),
      fs: {...fs, availableBytes: fs.availableBytes + freed},
      // Once begun it goes on until the low threshold is reached.
      policy: {...policy, highThresholdPercent: policy.lowThresholdPercent},
    },
    signal,
  );
}

async function removeImage(deps: ImageGCDeps, id: string, signal: AbortSignal): Promise<boolean> {
  const {images, logger, onCollected} = deps;
  try {
    await images.removeImage(id, signal);
  } catch (error) {
    if (!(error instanceof CriError)) throw error;
    logger.warn('cannot remove an image', {image: id, error: error.message});
    return false;
  }
  logger.info('removed an unused image, the disk was full', {image: id});
  onCollected();
  return true;
}

/** Brings what is remembered of pulled images up to date; answers it by image id. */
async function updateRecords(
  {records, runtime, clock}: ImageGCDeps,
  images: readonly GcImage[],
  usedReferences: ReadonlySet<string>,
): Promise<ReadonlyMap<string, PulledImage>> {
  const byReference = new Map(images.flatMap(image => [image.id, ...image.names].map(name => [name, image] as const)));
  const now = clock.now();
  const pulled = new Map<string, PulledImage>();
  for (const {key, value} of await records.list()) {
    if (value.endpoint !== runtime.endpoint) continue;
    const image = byReference.get(value.imageRef);
    if (image === undefined) {
      await records.delete(key);
      continue;
    }
    const isUsed = isImageUsed(image, usedReferences);
    const lastUsedAt = isUsed ? now : (value.lastUsedAt ?? null);
    if (isUsed && now - (value.lastUsedAt ?? 0) > RECORD_USE_MS) await records.put(key, {...value, lastUsedAt: now});
    pulled.set(image.id, {pulledAt: value.pulledAt ?? 0, lastUsedAt});
  }
  return pulled;
}

async function statDisk(path: string): Promise<ImageGCInput['fs']> {
  const {blocks, bavail, bsize} = await statfs(path);
  return {capacityBytes: blocks * bsize, availableBytes: bavail * bsize};
}

/** The disk or the root directory is in trouble: no bug. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
