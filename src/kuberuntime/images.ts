// Makes sure that a container's image is there: looks it up, pulls it with the credentials that fit, keeps count of
// failures. Mirrors kubelet v1.36 pkg/kubelet/images/image_manager.go and kuberuntime/kuberuntime_image.go.
import type {BackoffLimits} from '../core/backoff.js';
import type {ImageUser} from '../core/cri-config/types.js';
import {PodError} from '../core/errors.js';
import {goDuration} from '../core/go-text.js';
import {applyDefaultImageTag} from '../core/images/image-reference.js';
import {
  afterFailedPull,
  isPullForgotten,
  pullBackoffKey,
  pullWaitMs,
  type PullBackoff,
} from '../core/images/pull-backoff.js';
import {isLookUpOptional, looksUpImage, pullDecision, pullFailure} from '../core/images/pull-policy.js';
import type {AnyContainer} from '../core/cri-config/types.js';
import type {Pod, Secret} from '../core/pod/types.js';
import type {EventReason} from '../core/reasons.js';
import type {Image, PodSandboxConfig} from '../cri/gen/cri.js';
import {createSemaphore, type Semaphore} from '../lib/semaphore.js';
import {errorText, expectedFailure, pullErrorText} from './failures.js';
import type {PodReporter} from './pod-reporter.js';
import {pullWithCredentials, type PullDeps} from './pull-image.js';

export interface ImageManagerDeps extends PullDeps {
  /** Most pulls at once; null = no limit. */
  readonly maxParallelPulls: number | null;
  readonly backoff: BackoffLimits;
  /** Told of every image that was pulled, before the pull counts as done. */
  readonly onPulled?: (image: string, imageRef: string) => Promise<void>;
}

interface EnsureImageRequest {
  readonly pod: Pod;
  /** The image as the spec writes it. */
  readonly image: string;
  readonly pullPolicy: string | undefined;
  readonly pullSecrets: readonly Secret[];
  readonly sandboxConfig: PodSandboxConfig | undefined;
  readonly reporter: PodReporter;
  /** Whom the events are about; undefined = the pod (an image volume). */
  readonly container: AnyContainer | undefined;
  /** An answer of `recent` for this image. */
  readonly known?: Image | undefined;
}

export interface EnsuredImage {
  /** The runtime's reference of the image. */
  readonly imageRef: string;
  readonly user: ImageUser;
  /** Said of an image that was there already; '' for one that was pulled. */
  readonly message: string;
}

export interface ImageManager {
  /** Rejects with PodError: InvalidImageName, ImageInspectError, ErrImageNeverPull, ImagePullBackOff, ErrImagePull, ... */
  ensure(request: EnsureImageRequest, signal: AbortSignal): Promise<EnsuredImage>;
  /** Asks for an image that will be needed, if its policy allows to look and nobody has asked within 5 s. */
  lookUp(image: string, pullPolicy: string | undefined, signal: AbortSignal): void;
  /** The image that was looked up within the last 5 s; undefined = it was not, or there is none. Never rejects. */
  recent(image: string): Promise<Image | undefined>;
  /** What is kept of failed pulls; for tests of the table. */
  backoffOf(podUid: string, image: string): PullBackoff | undefined;
}

export function createImageManager(deps: ImageManagerDeps): ImageManager {
  const state: ImageState = {
    ...deps,
    failures: new Map<string, PullBackoff>(),
    lookUps: new Map(),
    pulls: createSemaphore(deps.maxParallelPulls),
  };
  return {
    ensure: (request, signal) => ensureImage(state, request, signal),
    lookUp: (image, pullPolicy, signal) => lookUp(state, image, pullPolicy, signal),
    recent: image => freshAnswer(state, image) ?? Promise.resolve(undefined),
    backoffOf: (podUid, image) => state.failures.get(pullBackoffKey(podUid, image)),
  };
}

interface ImageState extends ImageManagerDeps {
  /** By pod and image, in times of clock.monotonic(). */
  readonly failures: Map<string, PullBackoff>;
  /** Answers to lookUp, by image as the spec writes it. */
  readonly lookUps: Map<string, {readonly askedAt: number; readonly answer: Promise<Image | undefined>}>;
  readonly pulls: Semaphore;
}

async function ensureImage(state: ImageState, request: EnsureImageRequest, signal: AbortSignal): Promise<EnsuredImage> {
  const tagged = applyDefaultImageTag(request.image);
  if (!tagged.ok) {
    const message = `Failed to apply default image tag "${request.image}": ${tagged.problem}`;
    throw refusal(request, 'InvalidImageName', 'InspectFailed', message);
  }
  const present = await inspect(state, tagged.image, request, signal);
  switch (pullDecision(request.pullPolicy, present !== undefined && present.id !== '')) {
    case 'use':
      return usePresent(request, present);
    case 'never-pull': {
      const message = `Container image "${request.image}" is not present with pull policy of Never`;
      throw refusal(request, 'ErrImageNeverPull', 'ErrImageNeverPull', message);
    }
    case 'pull':
      return pull(state, tagged.image, request, signal);
  }
}

async function inspect(
  {images}: ImageState,
  name: string,
  request: EnsureImageRequest,
  signal: AbortSignal,
): Promise<Image | undefined> {
  if (!looksUpImage(request.pullPolicy)) return undefined;
  if (request.known !== undefined) return request.known;
  try {
    return (await images.imageStatus(name, signal)).image;
  } catch (thrown) {
    const error = expectedFailure(thrown, signal);
    if (isLookUpOptional(name)) return undefined;
    // The kubelet prints the reference it did not get: an empty text.
    throw refusal(request, 'ImageInspectError', 'InspectFailed', `Failed to inspect image "": ${errorText(error)}`);
  }
}

/** An image may be removed between the look-up and its use: an older answer no longer counts. */
const FRESH_MS = 5000;

function freshAnswer({clock, lookUps}: ImageState, image: string): Promise<Image | undefined> | undefined {
  const found = lookUps.get(image);
  return found !== undefined && clock.monotonic() - found.askedAt < FRESH_MS ? found.answer : undefined;
}

/** An answer for later use: whoever needs the image asks again when there is none, and tells what is wrong. */
function lookUp(state: ImageState, image: string, pullPolicy: string | undefined, signal: AbortSignal): void {
  const {images, clock, lookUps} = state;
  const tagged = applyDefaultImageTag(image);
  if (!tagged.ok || !looksUpImage(pullPolicy) || freshAnswer(state, image) !== undefined) return;
  const answer = images.imageStatus(tagged.image, signal).then(
    found => found.image,
    () => undefined,
  );
  lookUps.set(image, {askedAt: clock.monotonic(), answer});
  // The next pod asks anew for what was not there.
  void answer.then(found => {
    if (found === undefined && lookUps.get(image)?.answer === answer) lookUps.delete(image);
  });
}

async function pull(
  state: ImageState,
  name: string,
  request: EnsureImageRequest,
  signal: AbortSignal,
): Promise<EnsuredImage> {
  const {image, reporter, container, pod} = request;
  const key = pullBackoffKey(pod.metadata.uid, image);
  const last = state.failures.get(key);
  const waitMs = pullWaitMs(last, state.clock.monotonic(), state.backoff);
  if (last !== undefined && waitMs !== null) throw backOffError(request, last, state.clock.now() + waitMs);
  reporter.recorded('Normal', 'Pulling', `Pulling image "${image}"`, container);
  try {
    return await pullNow(state, name, request, signal);
  } catch (thrown) {
    const error = expectedFailure(thrown, signal);
    const text = pullErrorText(error);
    reporter.recorded('Warning', 'Failed', `Failed to pull image "${image}": ${text}`, container);
    const failure = pullFailure(image, text);
    state.failures.set(key, afterFailedPull(last, failure, state.clock.monotonic(), state.backoff));
    throw new PodError(failure.reason, failure.message, {cause: error});
  }
}

async function pullNow(
  state: ImageState,
  name: string,
  request: EnsureImageRequest,
  signal: AbortSignal,
): Promise<EnsuredImage> {
  const {image, reporter, container, pod} = request;
  const startedAt = state.clock.monotonic();
  const pulling = (): ReturnType<typeof timedPull> =>
    state.pulls.run(() => timedPull(state, name, request, signal), signal);
  const {imageRef, tookMs} = await reporter.step('PullImage', container?.name ?? pod.metadata.name, pulling, image);
  const waitedMs = state.clock.monotonic() - startedAt;
  const pulled = await imageAfterPull(state, name, signal);
  const took = `${goDuration(Math.trunc(tookMs))} (${goDuration(Math.trunc(waitedMs))} including waiting)`;
  const size = `Image size: ${pulled?.size ?? 0n} bytes.`;
  reporter.recorded('Normal', 'Pulled', `Successfully pulled image "${image}" in ${took}. ${size}`, container);
  forgetOldFailures(state);
  return {imageRef, user: imageUser(pulled), message: ''};
}

function usePresent({image, reporter, container}: EnsureImageRequest, present: Image | undefined): EnsuredImage {
  const message = `Container image "${image}" already present on machine and can be accessed by the pod`;
  reporter.recorded('Normal', 'Pulled', message, container);
  return {imageRef: present?.id ?? '', user: imageUser(present), message};
}

/** Records the event of a refusal and answers its error. */
function refusal(
  {reporter, container}: EnsureImageRequest,
  reason: 'InvalidImageName' | 'ImageInspectError' | 'ErrImageNeverPull',
  event: EventReason,
  message: string,
): PodError {
  reporter.recorded('Warning', event, message, container);
  return new PodError(reason, message);
}

function backOffError({image, reporter, container}: EnsureImageRequest, last: PullBackoff, retryAt: number): PodError {
  const message = `Back-off pulling image "${image}"`;
  reporter.recorded('Normal', 'BackOff', message, container);
  return new PodError('ImagePullBackOff', `${message}: ${last.lastError}`, {retryAt});
}

async function timedPull(
  deps: ImageManagerDeps,
  name: string,
  request: EnsureImageRequest,
  signal: AbortSignal,
): Promise<{imageRef: string; tookMs: number}> {
  const startedAt = deps.clock.monotonic();
  const imageRef = await pullWithCredentials(deps, name, request, signal);
  await deps.onPulled?.(name, imageRef);
  return {imageRef, tookMs: deps.clock.monotonic() - startedAt};
}

/** Size and user of what was pulled. Without an answer the size is unknown and the user is root, as for the kubelet. */
async function imageAfterPull({images}: ImageState, name: string, signal: AbortSignal): Promise<Image | undefined> {
  try {
    return (await images.imageStatus(name, signal)).image;
  } catch (thrown) {
    expectedFailure(thrown, signal);
    return undefined;
  }
}

function imageUser(image: Image | undefined): ImageUser {
  if (image?.uid !== undefined) return {uid: Number(image.uid.value)};
  return image === undefined || image.username === '' ? {} : {username: image.username};
}

function forgetOldFailures({failures, clock, backoff}: ImageState): void {
  for (const [key, failure] of failures) if (isPullForgotten(failure, clock.monotonic(), backoff)) failures.delete(key);
}
