// Flags of what `watch` does beside running pods, so that the disk does not fill up: the kubelet's own, with its defaults.
import {Errors, Flags, type Interfaces} from '@oclif/core';
import type {AgentConfig} from '../../agent/config.js';
import {UsageError} from '../../core/errors.js';
import {DEFAULT_IMAGE_GC_POLICY} from '../../core/gc-images.js';
import {parseQuantity, quantityValue} from '../../core/pod/quantity.js';
import {durationFlag} from '../flags.js';

const UPKEEP = 'UPKEEP';

const sizeFlag = Flags.custom<number>({
  helpValue: 'SIZE',
  parse: input => {
    try {
      return Promise.resolve(Number(quantityValue(parseQuantity(input))));
    } catch {
      return Promise.reject(new Errors.CLIError(`${JSON.stringify(input)} is not a size, e.g. 10Mi`));
    }
  },
});

const percentFlag = (summary: string) =>
  Flags.integer({helpGroup: UPKEEP, helpValue: 'PERCENT', min: 0, max: 100, summary});

export const upkeepFlags = {
  'container-log-max-size': sizeFlag({
    helpGroup: UPKEEP,
    default: 10 * 1024 * 1024,
    defaultHelp: () => Promise.resolve('10Mi'),
    summary: "Size at which a running container's log is rotated; negative = never.",
  }),
  'container-log-max-files': Flags.integer({
    helpGroup: UPKEEP,
    helpValue: 'N',
    min: 2,
    default: 5,
    summary: 'Most log files of a container, older ones gzipped.',
  }),
  'image-gc-high-threshold': percentFlag(
    'Use of the disk at which unused images that were pulled here are removed; 100 = never (default 85 with the embedded ' +
      'runtime, else never).',
  ),
  'image-gc-low-threshold': percentFlag('Use of the disk down to which they are removed (default 80).'),
  'minimum-image-ttl-duration': durationFlag({
    helpGroup: UPKEEP,
    summary: 'Images are kept at least this long after they were pulled (default 2m).',
  }),
};

type UpkeepFlags = Interfaces.InferredFlags<typeof upkeepFlags>;

/** The configuration, by whether the runtime is the embedded one. */
export type UpkeepConfig = (embedded: boolean) => Pick<AgentConfig, 'logRotation' | 'imageGC'>;

/**
 * Images are collected on the embedded runtime, and on others if a flag speaks of it: somebody may count on images there.
 * Throws UsageError for thresholds that contradict each other.
 */
export function upkeepConfig(flags: UpkeepFlags): UpkeepConfig {
  const {'image-gc-high-threshold': high, 'image-gc-low-threshold': low, 'minimum-image-ttl-duration': ttl} = flags;
  const {highThresholdPercent, lowThresholdPercent, minAgeMs} = DEFAULT_IMAGE_GC_POLICY;
  const policy = {
    highThresholdPercent: high ?? highThresholdPercent,
    lowThresholdPercent: low ?? lowThresholdPercent,
    minAgeMs: ttl ?? minAgeMs,
  };
  if (policy.lowThresholdPercent >= policy.highThresholdPercent) {
    const [lower, higher] = [policy.lowThresholdPercent, policy.highThresholdPercent];
    throw new UsageError(`--image-gc-low-threshold (${lower}) must be less than --image-gc-high-threshold (${higher})`);
  }
  const isAskedFor = [high, low, ttl].some(value => value !== undefined);
  const maxBytes = flags['container-log-max-size'];
  const logRotation = maxBytes < 0 ? null : {maxBytes, maxFiles: flags['container-log-max-files']};
  return embedded => {
    const collects = (embedded || isAskedFor) && policy.highThresholdPercent < 100;
    return {logRotation, imageGC: collects ? policy : null};
  };
}
