// Decides whether an image is looked up, taken as it is, pulled or refused.
// Mirrors kubelet v1.36 pkg/kubelet/images/image_manager.go imagePullPrecheck, EnsureImageExists, evalCRIPullErr.
import type {Reason} from '../reasons.js';
import {parseImageReference} from './image-reference.js';

/** Whether the policy needs to know if the image is there. Always never asks; a policy nobody knows pulls. */
export function looksUpImage(policy: string | undefined): boolean {
  return policy === 'IfNotPresent' || policy === 'Never';
}

/**
 * Whether a look-up that failed counts as "not there" instead of ending the start: a digest says what the image holds,
 * whoever delivers it.
 */
export function isLookUpOptional(image: string): boolean {
  const parsed = parseImageReference(image);
  return parsed.ok && parsed.reference.digest !== '';
}

/** What to do once it is known whether the image is there; `present` false also when it was not looked up. */
export function pullDecision(policy: string | undefined, present: boolean): 'use' | 'pull' | 'never-pull' {
  if (present && looksUpImage(policy)) return 'use';
  return policy === 'Never' ? 'never-pull' : 'pull';
}

/** Prefixes by which a runtime tells special failures, with the words of the kubelet's message. */
const SPECIAL_FAILURES: readonly (readonly [Reason, string])[] = [
  ['RegistryUnavailable', 'the registry is unavailable'],
  ['SignatureValidationFailed', 'the signature validation failed'],
];

/** Reason and message of a failed pull. `text` is the runtime's error as the kubelet prints it. */
export function pullFailure(image: string, text: string): {readonly reason: Reason; readonly message: string} {
  for (const [reason, words] of SPECIAL_FAILURES) {
    if (!text.startsWith(reason)) continue;
    return {reason, message: `image pull failed for ${image} because ${words}${text.slice(reason.length)}`};
  }
  return {reason: 'ErrImagePull', message: text};
}

const PERMANENT =
  /code = NotFound\b|\bnot found\b|manifest unknown|code = (Unauthenticated|PermissionDenied)\b|\b401 Unauthorized\b|\b403 Forbidden\b|authorization failed|insufficient_scope|pull access denied|authentication required|unauthorized:|no basic auth credentials/i;

/** A pull message that says: the registry was asked and answered that there is no such image, or not for you. */
export function isRefusedByRegistry(message: string): boolean {
  return PERMANENT.test(message);
}
