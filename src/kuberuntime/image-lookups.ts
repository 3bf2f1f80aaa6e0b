// Looks images up while a sandbox is being made, so that starting its containers need not wait for the answers.
import type {AnyContainer} from '../core/cri-config/types.js';
import type {Image} from '../cri/gen/cri.js';
import type {Clock} from '../lib/clock.js';
import {FRESH_MS, type ImageManager} from './images.js';

export interface ImageLookups {
  /** The answer for a container's image if there is one and it is fresh; undefined = ask again. */
  recent(container: AnyContainer): Promise<Image | undefined>;
}

/** Starts the look-ups. They never reject; aborting ends them. */
export function lookUpImages(
  {images, clock}: {readonly images: ImageManager; readonly clock: Clock},
  containers: readonly AnyContainer[],
  signal: AbortSignal,
): ImageLookups {
  const answers = new Map<string, Promise<{image: Image | undefined; at: number}>>();
  for (const {image: name = '', imagePullPolicy} of containers) {
    if (answers.has(name)) continue;
    const lookup = images.lookUp(name, imagePullPolicy, signal);
    answers.set(
      name,
      lookup.then(image => ({image, at: clock.now()})),
    );
  }
  return {
    async recent({image: name = ''}) {
      const answer = await answers.get(name);
      return answer !== undefined && clock.now() - answer.at < FRESH_MS ? answer.image : undefined;
    },
  };
}
