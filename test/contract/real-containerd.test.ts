// The contract on the containerd that is installed here.
import {describe} from 'vitest';
import {noRuntimeReason, startTestRuntime} from '../support/embedded-runtime.js';
import {subjectOn} from './real-subject.js';
import {runtimeSpecs} from './runtime-specs.js';

if (noRuntimeReason !== null) console.error(`NOT TRIED: the contract on the installed containerd: ${noRuntimeReason}`);

describe.skipIf(noRuntimeReason !== null)('the installed containerd', () => {
  runtimeSpecs(async () => subjectOn(await startTestRuntime()));
});
