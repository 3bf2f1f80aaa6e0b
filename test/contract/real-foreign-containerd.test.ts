// The contract on the containerd of other Debian releases, as far as their packages can be had.
import {describe} from 'vitest';
import {fetchContainerd, RELEASES, type Fetched, type Release} from '../../scripts/fetch-containerd.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';
import {startContainerd} from '../support/private-containerd.js';
import {subjectOn} from './real-subject.js';
import {runtimeSpecs} from './runtime-specs.js';

describe.each(RELEASES.map(had))('$release.wanted', fetched => {
  if ('reason' in fetched) console.error(`NOT TRIED: the contract on ${fetched.release.wanted}: ${fetched.reason}`);
  describe.skipIf('reason' in fetched)(`version ${'version' in fetched ? fetched.version : 'unknown'}`, () => {
    runtimeSpecs(async () => subjectOn(await startContainerd('binDir' in fetched ? fetched.binDir : '')));
  });
});

function had(release: Release): Fetched {
  return noRuntimeReason === null ? fetchContainerd(release) : {release, reason: noRuntimeReason};
}
