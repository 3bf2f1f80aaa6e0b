// Chooses a subnet for the embedded runtime's pods that no route of the host leads to. Pure.

export interface Subnet {
  /** First address as an unsigned 32-bit number. */
  readonly address: number;
  readonly prefix: number;
}

/** Pods of one root: 1,022 addresses. */
const PREFIX = 22;
/** 10.128.0.0/9: the half of 10/8 that container tools rarely claim. */
const RANGE: Subnet = {address: 10 * 2 ** 24 + 128 * 2 ** 16, prefix: 9};
const CANDIDATES = 2 ** (PREFIX - RANGE.prefix);

/**
 * The first free subnet, beginning at a place that `seed` decides so that two runtimes of one machine do not meet before
 * either has made its route. null when everything is taken.
 */
export function chooseSubnet(taken: readonly Subnet[], seed: number): Subnet | null {
  for (let step = 0; step < CANDIDATES; step++) {
    const index = (seed + step) % CANDIDATES;
    const candidate = {address: RANGE.address + index * 2 ** (32 - PREFIX), prefix: PREFIX};
    if (!taken.some(other => overlaps(candidate, other))) return candidate;
  }
  return null;
}

/** Whether two subnets share an address. The default route (prefix 0) leads everywhere and hence says nothing. */
export function overlaps(a: Subnet, b: Subnet): boolean {
  if (a.prefix === 0 || b.prefix === 0) return false;
  const size = 2 ** (32 - Math.min(a.prefix, b.prefix));
  return Math.floor(a.address / size) === Math.floor(b.address / size);
}

/** Subnets of /proc/net/route: hex numbers in the byte order of a little-endian host. */
export function parseRoutes(text: string): readonly Subnet[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap(line => {
      const columns = line.split('\t').map(column => column.trim());
      const [destination, mask] = [columns[1], columns[7]];
      if (destination === undefined || mask === undefined) return [];
      return [{address: fromLittleEndian(destination), prefix: ones(fromLittleEndian(mask))}];
    });
}

/** Addresses of name servers, which must stay reachable even when only the default route leads to them. */
export function parseNameservers(resolvConf: string): readonly Subnet[] {
  return resolvConf.split('\n').flatMap(line => {
    const address = /^\s*nameserver\s+(\d+)\.(\d+)\.(\d+)\.(\d+)\s*$/.exec(line);
    if (address === null) return [];
    return [{address: address.slice(1).reduce((sum, octet) => sum * 256 + Number(octet), 0), prefix: 32}];
  });
}

/** 10.200.4.0/22 */
export function formatSubnet(subnet: Subnet): string {
  const octets = [24, 16, 8, 0].map(shift => Math.floor(subnet.address / 2 ** shift) % 256);
  return `${octets.join('.')}/${subnet.prefix}`;
}

function fromLittleEndian(hex: string): number {
  return (hex.match(/../g) ?? []).reverse().reduce((sum, byte) => sum * 256 + parseInt(byte, 16), 0);
}

function ones(mask: number): number {
  return mask.toString(2).replaceAll('0', '').length;
}
