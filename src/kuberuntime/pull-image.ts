// One pull: with each credential that fits until one works, its time told meanwhile.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_image.go PullImage.
import {parseImageReference} from '../core/images/image-reference.js';
import {lookUpCredentials, secretKeyring, type Keyring, type RegistryCredentials} from '../core/images/keyring.js';
import type {PullBytes} from '../core/images/pull-progress.js';
import type {Secret} from '../core/pod/types.js';
import type {AuthConfig, PodSandboxConfig} from '../cri/gen/cri.js';
import type {FollowedPull, FollowPull} from '../cri/pull-progress.js';
import type {ImageService} from '../cri/runtime-service.js';
import type {Clock, Timer} from '../lib/clock.js';
import {expectedFailure, pullErrorText} from './failures.js';
import type {PodReporter} from './pod-reporter.js';

const PROGRESS_INTERVAL_MS = 1000;

export interface PullDeps {
  readonly images: ImageService;
  readonly clock: Clock;
  /** Credentials of the host. */
  readonly hostKeyring: Keyring;
  /** Whom to ask how far a pull is. Default: nobody, the time alone is told. */
  readonly followPull?: FollowPull;
}

export interface PullRequest {
  /** As the spec writes it, for progress. */
  readonly image: string;
  readonly pullSecrets: readonly Secret[];
  readonly sandboxConfig: PodSandboxConfig | undefined;
  readonly reporter: PodReporter;
}

/**
 * Pulls `name` and answers the runtime's reference. Rejects with the only error as it came, with an Error that lists all
 * when several credentials failed, or with one that names a secret that cannot be read.
 */
export async function pullWithCredentials(
  deps: PullDeps,
  name: string,
  request: PullRequest,
  signal: AbortSignal,
): Promise<string> {
  const credentials = credentialsFor(name, request.pullSecrets, deps.hostKeyring);
  const progress = reportProgress(deps, name, request);
  try {
    return await tryEach(credentials, auth => deps.images.pullImage(name, auth, request.sandboxConfig, signal), signal);
  } finally {
    progress.stop();
  }
}

/** Without credentials one anonymous pull is made; with credentials there is none. */
async function tryEach(
  credentials: readonly RegistryCredentials[],
  pull: (auth: AuthConfig | undefined) => Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  if (credentials.length === 0) return pull(undefined);
  const failures: Error[] = [];
  for (const each of credentials) {
    try {
      return await pull(authConfig(each));
    } catch (error) {
      failures.push(expectedFailure(error, signal));
    }
  }
  const [only] = failures;
  const texts = [...new Set(failures.map(pullErrorText))];
  if (only !== undefined && texts.length === 1) throw only;
  throw new Error(`[${texts.join(', ')}]`, {cause: only});
}

/** The pod's own secrets come before what the host knows. */
function credentialsFor(
  name: string,
  secrets: readonly Secret[],
  hostKeyring: Keyring,
): readonly RegistryCredentials[] {
  const parsed = parseImageReference(name);
  if (!parsed.ok) return [];
  const ofPod = secrets.flatMap(secret => {
    const keyring = secretKeyring(secret);
    if (!keyring.ok) throw new Error(`image pull secret "${secret.metadata?.name ?? ''}": ${keyring.problem}`);
    return keyring.keyring;
  });
  return lookUpCredentials([ofPod, hostKeyring], parsed.reference.repository);
}

function authConfig({username, password}: RegistryCredentials): AuthConfig {
  return {username, password, auth: '', serverAddress: '', identityToken: '', registryToken: ''};
}

/**
 * Tells once a second how long the pull has been running and, where the runtime can be asked, how much of the image is
 * there. An answer that takes longer than a second is told when it comes, the time meanwhile.
 */
function reportProgress(
  {clock, followPull}: PullDeps,
  name: string,
  {image, reporter}: PullRequest,
): {stop: () => void} {
  const startedAt = clock.monotonic();
  const followed = followPull?.(name) ?? null;
  let timer: Timer | null = null;
  let bytes: PullBytes | null = null;
  let isAsking = false;
  let isStopped = false;
  const tell = (): void => reporter.pullProgress(image, clock.monotonic() - startedAt, bytes);
  const ask = async (pull: FollowedPull): Promise<void> => {
    isAsking = true;
    bytes = await pull.bytes();
    isAsking = false;
    if (!isStopped) tell();
  };
  const arm = (): void => {
    timer = clock.setTimer(() => {
      if (followed === null || isAsking) tell();
      else void ask(followed);
      arm();
    }, PROGRESS_INTERVAL_MS);
  };
  arm();
  return {
    stop() {
      isStopped = true;
      timer?.cancel();
      followed?.end();
    },
  };
}
