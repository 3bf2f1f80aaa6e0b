import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  applyDefaultImageTag,
  defaultImagePullPolicy,
  parseImageReference,
} from '../../../src/core/images/image-reference.js';

const DIGEST = `sha256:${'a'.repeat(64)}`;

test.for([
  ['nginx', 'docker.io/library/nginx', 'latest', ''],
  ['nginx:1.28', 'docker.io/library/nginx', '1.28', ''],
  ['team/app', 'docker.io/team/app', 'latest', ''],
  ['docker.io/nginx', 'docker.io/library/nginx', 'latest', ''],
  ['index.docker.io/team/app:2', 'docker.io/team/app', '2', ''],
  ['localhost/app', 'localhost/app', 'latest', ''],
  ['localhost:5000/a/b:v1', 'localhost:5000/a/b', 'v1', ''],
  ['reg.example/a', 'reg.example/a', 'latest', ''],
  ['UPPER/case', 'UPPER/case', 'latest', ''],
  ['[::1]:5000/a:b', '[::1]:5000/a', 'b', ''],
  [`quay.io/a/b@${DIGEST}`, 'quay.io/a/b', '', DIGEST],
  [`busybox:latest@${DIGEST}`, 'docker.io/library/busybox', 'latest', DIGEST],
] as const)('%s is read as repository %s with tag "%s" and digest "%s"', ([image, repository, tag, digest]) => {
  expect(parseImageReference(image)).toEqual({ok: true, reference: {repository, tag, digest}});
});

test.for([
  ['', 'invalid reference format'],
  ['nginx:', 'invalid reference format'],
  ['nginx@sha256:short', 'invalid reference format'],
  ['Bad:Image:x', 'invalid reference format: repository name (library/Bad) must be lowercase'],
  ['reg.example/Team/app', 'invalid reference format: repository name (Team/app) must be lowercase'],
  ['a'.repeat(64), `invalid repository name (${'a'.repeat(64)}), cannot specify 64-byte hexadecimal strings`],
  [`reg.example/${'a/'.repeat(140)}b`, 'repository name must not be more than 255 characters'],
  [`nginx@sha256:${'a'.repeat(40)}`, 'invalid checksum digest length'],
  [`nginx@sha256:${'A'.repeat(64)}`, 'invalid checksum digest format'],
  [`nginx@md5:${'a'.repeat(32)}`, 'unsupported digest algorithm'],
] as const)('the name "%s" is refused', ([image, text]) => {
  expect(parseImageReference(image)).toEqual({ok: false, problem: `couldn't parse image name "${image}": ${text}`});
});

test.for([
  ['busybox', 'busybox:latest'],
  ['busybox:latest', 'busybox:latest'],
  ['busybox:1.36', 'busybox:1.36'],
  ['reg:5000/a/b', 'reg:5000/a/b:latest'],
  [`busybox@${DIGEST}`, `busybox@${DIGEST}`],
  [`busybox:latest@${DIGEST}`, `busybox:latest@${DIGEST}`],
] as const)('%s is pulled as %s', ([image, pulled]) => {
  expect(applyDefaultImageTag(image)).toEqual({ok: true, image: pulled});
});

// cases C20
test.for([
  ['busybox', 'Always'],
  ['busybox:latest', 'Always'],
  ['reg:5000/a/b', 'Always'],
  ['reg:5000/a/b:v1', 'IfNotPresent'],
  [`busybox@${DIGEST}`, 'IfNotPresent'],
  [`busybox:latest@${DIGEST}`, 'Always'],
  ['nginx:', 'IfNotPresent'],
] as const)('a container with image %s and no policy gets %s', ([image, policy]) => {
  expect(defaultImagePullPolicy(image)).toBe(policy);
});

describe('whatever the name', () => {
  const part = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  const tag = fc.option(fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,10}$/), {nil: undefined});
  const image = fc
    .tuple(
      fc.constantFrom('', 'reg.example/', 'localhost:5000/', 'localhost/'),
      fc.array(part, {minLength: 1, maxLength: 3}),
      tag,
    )
    .map(([registry, path, end]) => `${registry}${path.join('/')}${end === undefined ? '' : `:${end}`}`);

  test('adding the default tag twice is adding it once', () => {
    fc.assert(
      fc.property(image, name => {
        const once = applyDefaultImageTag(name);
        expect(once.ok && applyDefaultImageTag(once.image)).toEqual(once);
      }),
    );
  });
});
