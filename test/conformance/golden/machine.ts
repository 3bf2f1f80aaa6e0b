// Traces were recorded on one machine. What of a request depends on the machine is restated for the one of this run: in the
// open, and only where the two differ.
import {readdir} from 'node:fs/promises';
import {totalmem} from 'node:os';
import {isObject, objectAt, textAt} from './json.js';
import type {Json, JsonObject, MachineFacts} from './types.js';

export const MIB = 1024 * 1024;

/** The machine of ../golden-traces, by the README beside them; its memory is known to the MiB that its hosts share. */
export const RECORDED_ON: MachineFacts = {
  memoryBytes: 24_105 * MIB,
  hugepageSizes: ['2MB'],
  thermalThrottlePaths: [],
};

/** Memory sizes that differ by less give the same oom_score_adj but at a rounding edge. */
const SAME_MEMORY = 0.02;

/** Read without the project's own code, which is what is tested. */
export async function machineFacts(): Promise<MachineFacts> {
  const pages = await namesIn('/sys/kernel/mm/hugepages', /^hugepages-(\d+)kB$/);
  const cpuDir = '/sys/devices/system/cpu';
  const cpus = await namesIn(cpuDir, /^(cpu\d+)$/);
  const throttled = await Promise.all(cpus.map(cpu => namesIn(`${cpuDir}/${cpu}`, /^(thermal_throttle)$/)));
  return {
    memoryBytes: totalmem(),
    hugepageSizes: pages.map(Number).map(pageSizeName),
    thermalThrottlePaths: cpus
      .filter((_cpu, index) => throttled[index]?.length)
      .map(cpu => `${cpuDir}/${cpu}/thermal_throttle`),
  };
}

async function namesIn(dir: string, pattern: RegExp): Promise<readonly string[]> {
  const names = await readdir(dir).catch(() => []);
  return names.flatMap(name => pattern.exec(name)?.[1] ?? []).toSorted();
}

function pageSizeName(kib: number): string {
  const units = ['KB', 'MB', 'GB'];
  let size = kib;
  while (size >= 1024 && units.length > 1) {
    size /= 1024;
    units.shift();
  }
  return `${size}${units[0]}`;
}

/** What is restated for a machine, in words; nothing where it is like the recorded one. */
export function restatements(here: MachineFacts, recorded: MachineFacts = RECORDED_ON): readonly string[] {
  const pages = here.hugepageSizes.filter(size => !recorded.hugepageSizes.includes(size));
  const noPages = recorded.hugepageSizes.filter(size => !here.hugepageSizes.includes(size));
  const paths = here.thermalThrottlePaths;
  return [
    ...(pages.length > 0 ? [`hugepage_limits also name ${pages.join(', ')}, which this machine has`] : []),
    ...(noPages.length > 0 ? [`hugepage_limits do not name ${noPages.join(', ')}, which this machine lacks`] : []),
    ...(paths.length > 0
      ? [`masked_paths also name ${paths.length} thermal_throttle directories of this machine`]
      : []),
    ...(sameMemory(here, recorded)
      ? []
      : [`oom_score_adj of burstable containers is scaled to ${mib(here)} of memory`]),
  ];
}

/** A recorded container config as a kubelet on this machine would have sent it; `got` decides within a rounding step. */
export function restated(
  want: JsonObject,
  got: JsonObject,
  here: MachineFacts,
  recorded: MachineFacts = RECORDED_ON,
): JsonObject {
  const linux = objectAt(want, 'linux');
  if (!('resources' in linux)) return want;
  const resources = objectAt(linux, 'resources');
  const security = objectAt(linux, 'security_context');
  const masked = security['masked_paths'];
  return {
    ...want,
    linux: {
      ...linux,
      resources: {
        ...resources,
        ...('hugepage_limits' in resources && {hugepage_limits: hugepageLimits(resources['hugepage_limits'], here)}),
        ...('oom_score_adj' in resources && {oom_score_adj: oomScoreAdj(resources, got, here, recorded)}),
      },
      ...('security_context' in linux && {
        security_context: {
          ...security,
          ...(Array.isArray(masked) && {masked_paths: [...(masked as readonly Json[]), ...here.thermalThrottlePaths]}),
        },
      }),
    },
  };
}

/** Sizes that only the recorded machine has fall away if they carry no limit; those that only ours has carry none. */
function hugepageLimits(limits: Json | undefined, here: MachineFacts): readonly Json[] {
  const recorded = Array.isArray(limits) ? (limits as readonly Json[]) : [];
  const sizeOf = (limit: Json): string => (isObject(limit) ? textAt(limit, 'page_size') : '');
  const known = recorded.map(sizeOf);
  const isLimited = (limit: Json): boolean => isObject(limit) && 'limit' in limit;
  return [
    ...recorded.filter(limit => here.hugepageSizes.includes(sizeOf(limit)) || isLimited(limit)),
    ...here.hugepageSizes.filter(size => !known.includes(size)).map(size => ({page_size: size})),
  ];
}

/** Limits of huge pages are in no order that means anything. */
export function withSortedLists(config: JsonObject): JsonObject {
  const linux = objectAt(config, 'linux');
  const resources = objectAt(linux, 'resources');
  const limits = resources['hugepage_limits'];
  if (!Array.isArray(limits)) return config;
  const size = (limit: Json): string => (isObject(limit) ? textAt(limit, 'page_size') : '');
  const sorted = (limits as readonly Json[]).toSorted((left, right) => size(left).localeCompare(size(right)));
  return {...config, linux: {...linux, resources: {...resources, hugepage_limits: sorted}}};
}

/**
 * A burstable container's value is 1000 less the thousandths of the machine's memory that it requests, from 3 to 999. The
 * recorded one tells the request to a thousandth, so that on another machine a small range is right.
 */
function oomScoreAdj(resources: JsonObject, got: JsonObject, here: MachineFacts, recorded: MachineFacts): Json {
  const text = textAt(resources, 'oom_score_adj');
  const value = Number(text);
  if (value < 3 || value > 999 || sameMemory(here, recorded)) return text;
  const scale = recorded.memoryBytes / here.memoryBytes;
  const highest = clamp(1000 - Math.floor((value === 999 ? 0 : 1000 - value) * scale));
  const lowest = clamp(1000 - Math.ceil((1001 - value) * scale));
  const gotText = textAt(objectAt(got, 'linux', 'resources'), 'oom_score_adj');
  const fits = Number(gotText) >= lowest && Number(gotText) <= highest;
  return fits ? gotText : `${lowest} to ${highest}`;
}

function clamp(value: number): number {
  return Math.min(999, Math.max(3, value));
}

function sameMemory(here: MachineFacts, recorded: MachineFacts): boolean {
  return Math.abs(here.memoryBytes / recorded.memoryBytes - 1) < SAME_MEMORY;
}

function mib({memoryBytes}: MachineFacts): string {
  return `${Math.round(memoryBytes / MIB)} MiB`;
}
