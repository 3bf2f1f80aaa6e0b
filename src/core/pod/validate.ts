// Whether a pod may be: the API's own rules for creating one, privileged containers allowed, as the kubelet applies them to
// the manifests of its file source.
// Mirrors kubernetes v1.36 pkg/apis/core/validation ValidatePodCreate; see docs/parity.md for fields that are refused later.
import type {FieldError} from '../errors.js';
import type {ObjectMeta, Pod, PodSpec} from './types.js';
import {APPARMOR_CONTAINER, podMetadata, SECCOMP_CONTAINER, SECCOMP_POD} from './validate/metadata.js';
import {podOnly, podSpec} from './validate/pod-spec.js';
import type {Problems} from './validate/problem.js';
import {appArmorAnnotation, seccompAnnotation} from './validate/security.js';
import {containersOf} from './validate/windows.js';

/**
 * Every error of a pod, in the API server's order; none = valid. The pod must have been defaulted: an absent field that
 * defaulting fills is an error. Field paths are the API server's, also where those are imprecise.
 */
export function validatePod(pod: Pod): readonly FieldError[] {
  return [...createRules(pod.metadata, pod.spec)];
}

function* createRules(metadata: ObjectMeta, spec: PodSpec): Problems {
  yield* podMetadata('metadata', metadata, spec);
  yield* podSpec('spec', spec, metadata.name ?? '');
  yield* podOnly('spec', spec);
  yield* profilesOfOld('spec', metadata.annotations ?? {}, spec);
}

/** Annotations and fields that both choose a security profile must agree. */
function* profilesOfOld(path: string, annotations: Readonly<Record<string, string>>, spec: PodSpec): Problems {
  const ofPod = spec.securityContext;
  yield* seccompAnnotation(`${path}.securityContext.seccompProfile`, annotations[SECCOMP_POD], ofPod?.seccompProfile);
  for (const [own, {name, securityContext}] of containersOf(path, spec)) {
    const seccomp = annotations[`${SECCOMP_CONTAINER}${name}`];
    yield* seccompAnnotation(`${own}.securityContext.seccompProfile`, seccomp, securityContext?.seccompProfile);
    if (spec.os?.name === 'windows') continue;
    const appArmor = annotations[`${APPARMOR_CONTAINER}${name}`];
    const profile = securityContext?.appArmorProfile ?? ofPod?.appArmorProfile;
    yield* appArmorAnnotation(`${own}.securityContext.appArmorProfile`, appArmor, profile);
  }
}
