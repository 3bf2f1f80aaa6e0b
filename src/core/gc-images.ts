// Decides which images are removed when the disk of the images fills up: only what this instance has pulled itself and
// nobody's container uses. Mirrors kubelet v1.36 pkg/kubelet/images/image_gc_manager.go.

export interface ImageGCPolicy {
  /** Collection begins at this use of the file system, percent. */
  readonly highThresholdPercent: number;
  /** ... and goes on until its use is down to this. */
  readonly lowThresholdPercent: number;
  /** Images pulled less than this ago are left alone, ms. */
  readonly minAgeMs: number;
}

/** The kubelet's defaults. */
export const DEFAULT_IMAGE_GC_POLICY: ImageGCPolicy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minAgeMs: 2 * 60_000,
};

export interface GcImage {
  readonly id: string;
  /** Names with tag and names with digest. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
  /** The runtime must not lose it, e.g. the pause image. */
  readonly pinned: boolean;
}

/** What the root directory remembers of an image that this instance has pulled. Times: ms since the epoch. */
export interface PulledImage {
  readonly pulledAt: number;
  /** When a container was last seen using it; null = never. */
  readonly lastUsedAt: number | null;
}

export interface ImageGCInput {
  readonly images: readonly GcImage[];
  /** By image id. Others are never removed. */
  readonly pulled: ReadonlyMap<string, PulledImage>;
  /** Whatever containers of anyone call their image: ids, names, digest references. */
  readonly usedReferences: ReadonlySet<string>;
  readonly fs: {readonly capacityBytes: number; readonly availableBytes: number};
  readonly policy: ImageGCPolicy;
  readonly now: number;
}

export interface ImageGCDecision {
  /** Image ids, least recently used first. */
  readonly remove: readonly string[];
  /** How many bytes are to be freed; 0 = the disk is not full. */
  readonly bytesToFree: number;
  /** How many of them no image can give; above 0 it is an ImageGCFailed event. */
  readonly bytesMissing: number;
}

/** Nothing below the high threshold; else the least recently used images until the low one is reached. */
export function imagesToCollect(input: ImageGCInput): ImageGCDecision {
  const bytesToFree = bytesAboveLowThreshold(input);
  const remove: string[] = [];
  let freed = 0;
  for (const {id, sizeBytes} of candidates(input)) {
    if (freed >= bytesToFree) break;
    remove.push(id);
    freed += sizeBytes;
  }
  return {remove, bytesToFree, bytesMissing: Math.max(0, bytesToFree - freed)};
}

/** Whether any container uses the image. */
export function isImageUsed(image: Pick<GcImage, 'id' | 'names'>, usedReferences: ReadonlySet<string>): boolean {
  return usedReferences.has(image.id) || image.names.some(name => usedReferences.has(name));
}

function bytesAboveLowThreshold({fs, policy}: ImageGCInput): number {
  // A file system that tells no capacity tells nothing.
  if (fs.capacityBytes <= 0) return 0;
  const available = Math.min(fs.availableBytes, fs.capacityBytes);
  const usedPercent = 100 - Math.floor((available * 100) / fs.capacityBytes);
  if (usedPercent < policy.highThresholdPercent) return 0;
  return Math.max(0, Math.floor((fs.capacityBytes * (100 - policy.lowThresholdPercent)) / 100) - available);
}

function candidates({images, pulled, usedReferences, policy, now}: ImageGCInput): readonly GcImage[] {
  return images
    .flatMap(image => {
      const record = pulled.get(image.id);
      if (record === undefined || image.pinned || isImageUsed(image, usedReferences)) return [];
      if (now - record.pulledAt < policy.minAgeMs) return [];
      return [{image, record}];
    })
    .sort((a, b) => byLastUse(a.record, b.record))
    .map(({image}) => image);
}

/** Never used before used; of equals the one pulled first. */
function byLastUse(a: PulledImage, b: PulledImage): number {
  const lastUse = ({lastUsedAt}: PulledImage): number => lastUsedAt ?? -Infinity;
  return lastUse(a) === lastUse(b) ? a.pulledAt - b.pulledAt : lastUse(a) - lastUse(b);
}
