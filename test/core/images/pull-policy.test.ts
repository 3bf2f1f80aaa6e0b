import {expect, test} from 'vitest';
import {
  isLookUpOptional,
  isRefusedByRegistry,
  looksUpImage,
  pullDecision,
  pullFailure,
} from '../../../src/core/images/pull-policy.js';

test.for([
  ['Always', false, 'pull'],
  ['IfNotPresent', true, 'use'],
  ['IfNotPresent', false, 'pull'],
  ['Never', true, 'use'],
  ['Never', false, 'never-pull'],
  [undefined, false, 'pull'],
] as const)('with policy %s an image whose presence is %s: %s', ([policy, present, decision]) => {
  expect(pullDecision(policy, present)).toBe(decision);
});

test('Always never asks whether the image is there', () => {
  expect(looksUpImage('Always')).toBe(false);
});

test('only a digest makes up for a look-up that failed', () => {
  expect(isLookUpOptional(`nginx@sha256:${'a'.repeat(64)}`)).toBe(true);
  expect(isLookUpOptional('nginx:1.28')).toBe(false);
});

test.for([
  ['RegistryUnavailable', 'RegistryUnavailable', 'image pull failed for app because the registry is unavailable'],
  [
    'RegistryUnavailable: dial',
    'RegistryUnavailable',
    'image pull failed for app because the registry is unavailable: dial',
  ],
  [
    'SignatureValidationFailed: no key',
    'SignatureValidationFailed',
    'image pull failed for app because the signature validation failed: no key',
  ],
  ['pull access denied', 'ErrImagePull', 'pull access denied'],
] as const)('a pull that fails with "%s" has reason %s', ([text, reason, message]) => {
  expect(pullFailure('app', text)).toEqual({reason, message});
});

test.for([
  [
    'rpc error: code = NotFound desc = failed to pull and unpack image "localhost:5000/no/such:1": failed to resolve reference: not found',
    true,
  ],
  ['failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized', true],
  [
    'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
    true,
  ],
  ['failed to do request: Head "https://reg/v2/": dial tcp 10.0.0.1:443: connect: connection refused', false],
  ['unexpected status code 500 Internal Server Error', false],
  ['rpc error: code = Unavailable desc = connection error', false],
] as const)('the registry has refused for good: "%s" (%s)', ([message, refused]) => {
  expect(isRefusedByRegistry(message)).toBe(refused);
});
