// What the runtime says of itself.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/helpers.go toKubeRuntimeStatus and pkg/kubelet/kubelet.go updateRuntimeUp.
import type {StatusResponse} from '../cri/gen/cri.js';
import type {RuntimeService} from '../cri/runtime-service.js';

export interface RuntimeHealth {
  readonly runtimeReady: boolean;
  readonly networkReady: boolean;
  /** One line a condition that is not met, e.g. `NetworkReady=false reason:NetworkPluginNotReady message:...`. */
  readonly problems: readonly string[];
  /** Names of the runtime's handlers; '' = the default one. Empty where the runtime does not tell. */
  readonly handlers: readonly string[];
  /** What the default handler and the runtime can do. false where the runtime does not tell. */
  readonly features: RuntimeFeatures;
}

export interface RuntimeFeatures {
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
  readonly supplementalGroupsPolicy: boolean;
}

/** Conditions that any runtime must meet. */
const REQUIRED = ['RuntimeReady', 'NetworkReady'] as const;

/** Rejects with CriError. */
export async function readHealth(runtime: RuntimeService, signal: AbortSignal): Promise<RuntimeHealth> {
  return healthOf(await runtime.status(signal));
}

/** What an answer of Status amounts to. */
export function healthOf({status, runtimeHandlers, features}: StatusResponse): RuntimeHealth {
  const standard = runtimeHandlers.find(({name}) => name === '')?.features;
  const conditions = new Map((status?.conditions ?? []).map(condition => [condition.type, condition]));
  const problems = REQUIRED.flatMap(type => {
    const condition = conditions.get(type);
    if (condition?.status === true) return [];
    if (condition === undefined) return [`${type} is not reported`];
    return [`${type}=false reason:${condition.reason} message:${condition.message}`];
  });
  return {
    runtimeReady: conditions.get('RuntimeReady')?.status === true,
    networkReady: conditions.get('NetworkReady')?.status === true,
    problems,
    handlers: runtimeHandlers.map(({name}) => name),
    features: {
      recursiveReadOnlyMounts: standard?.recursiveReadOnlyMounts === true,
      userNamespaces: standard?.userNamespaces === true,
      supplementalGroupsPolicy: features?.supplementalGroupsPolicy === true,
    },
  };
}
