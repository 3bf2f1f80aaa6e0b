import {Parser} from '@oclif/core';
import {expect, it} from 'vitest';
import {upkeepConfig, upkeepFlags} from '../../../src/cli/watch/upkeep-flags.js';
import {UsageError} from '../../../src/core/errors.js';

async function configOf(
  argv: readonly string[],
  embedded: boolean,
): Promise<ReturnType<ReturnType<typeof upkeepConfig>>> {
  const {flags} = await Parser.parse([...argv], {flags: upkeepFlags, strict: true});
  return upkeepConfig(flags)(embedded);
}

const IMAGE_GC = {highThresholdPercent: 85, lowThresholdPercent: 80, minAgeMs: 120_000};

it('logs are rotated as a kubelet does, images collected on the embedded runtime only', async () => {
  const logRotation = {maxBytes: 10_485_760, maxFiles: 5};
  expect(await configOf([], true)).toEqual({logRotation, imageGC: IMAGE_GC});
  expect(await configOf([], false)).toEqual({logRotation, imageGC: null});
});

it.for([
  [['--container-log-max-size=1Gi', '--container-log-max-files=2'], {maxBytes: 1_073_741_824, maxFiles: 2}],
  [['--container-log-max-size=500k'], {maxBytes: 500_000, maxFiles: 5}],
  [['--container-log-max-size=-1'], null],
] as const)('%j rotates logs as %j', async ([argv, logRotation]) => {
  expect(await configOf(argv, false)).toMatchObject({logRotation});
});

it.for([
  [['--image-gc-high-threshold=90'], {...IMAGE_GC, highThresholdPercent: 90}],
  [['--image-gc-low-threshold=0'], {...IMAGE_GC, lowThresholdPercent: 0}],
  [['--minimum-image-ttl-duration=1h'], {...IMAGE_GC, minAgeMs: 3_600_000}],
  [['--image-gc-high-threshold=100'], null],
] as const)('%j collects images of any runtime as %j', async ([argv, imageGC]) => {
  expect(await configOf(argv, false)).toMatchObject({imageGC});
  expect(await configOf(argv, true)).toMatchObject({imageGC});
});

it.for([
  [['--image-gc-high-threshold=80']],
  [['--image-gc-low-threshold=85']],
  [['--image-gc-high-threshold=50', '--image-gc-low-threshold=60']],
] as const)('%j is refused: the low threshold is not below the high one', async ([argv]) => {
  await expect(configOf(argv, true)).rejects.toBeInstanceOf(UsageError);
});

it.for([
  [['--container-log-max-size=much']],
  [['--container-log-max-files=1']],
  [['--image-gc-high-threshold=101']],
] as const)('%j is refused by the parser', async ([argv]) => {
  await expect(configOf(argv, true)).rejects.toThrow();
});
