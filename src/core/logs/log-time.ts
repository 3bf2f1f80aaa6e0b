// RFC 3339 times with nanoseconds, as runtimes write them before log lines.
// Mirrors kubelet v1.36 pkg/kubelet/types/constants.go RFC3339NanoLenient, RFC3339NanoFixed.

export interface LogTime {
  /** ns since the epoch. */
  readonly ns: bigint;
  /** In the zone it was written in, with nine digits of the second: 2026-03-01T11:00:00.500000000Z. */
  readonly text: string;
}

const RFC3339 = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** null when `text` is no such time. */
export function parseLogTime(text: string): LogTime | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [, day = '', time = '', fraction = '', writtenZone = ''] = match;
  const local = Date.parse(`${day}T${time}Z`);
  // A day or time that does not exist rolls over or is NaN: both differ when printed again.
  if (Number.isNaN(local) || new Date(local).toISOString() !== `${day}T${time}.000Z`) return null;
  const zone = /^[+-]00:00$/.test(writtenZone) ? 'Z' : writtenZone;
  const nanos = fraction.slice(0, 9).padEnd(9, '0');
  return {
    ns: BigInt(local - zoneMs(zone)) * 1_000_000n + BigInt(nanos),
    text: `${day}T${time}.${nanos}${zone}`,
  };
}

function zoneMs(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return minutes * 60_000 * (zone.startsWith('-') ? -1 : 1);
}
