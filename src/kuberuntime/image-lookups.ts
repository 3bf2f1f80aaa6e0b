// Looks images up while a sandbox is being made, so that starting its containers need not wait for the answers.
import type {AnyContainer} from '../core/cri-config/types.js';
import type {Image} from '../cri/gen/cri.js';
import type {ImageManager} from './images.js';

export interface ImageLookups {
  /** The answer for a container's image if there is one and it is fresh; undefined = ask again. */
  recent(container: AnyContainer): Promise<Image | undefined>;
}

/**
 * Starts the look-ups where a sandbox is made first; else an answer that is fresh counts, too: one init container follows the
 * other. They never reject; aborting ends them.
 */
export function lookUpImages(
  images: Pick<ImageManager, 'lookUp' | 'recent'>,
  {containers, isAhead}: {readonly containers: readonly AnyContainer[]; readonly isAhead: boolean},
  signal: AbortSignal,
): ImageLookups {
  if (isAhead) for (const {image = '', imagePullPolicy} of containers) images.lookUp(image, imagePullPolicy, signal);
  const own = new Set(containers.map(({image = ''}) => image));
  return {recent: ({image = ''}) => (own.has(image) ? images.recent(image) : Promise.resolve(undefined))};
}
