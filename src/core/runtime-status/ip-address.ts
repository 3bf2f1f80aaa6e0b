// IP addresses as text, as Go's net package reads and writes them; leading zeros in IPv4 allowed (k8s.io/utils
// ParseIPSloppy).

/** True for IPv4 in dotted form and for IPv6, without zone and without brackets. */
export function isIPAddress(text: string): boolean {
  return text.includes(':') ? isIPv6(text) : isIPv4(text);
}

/**
 * The shortest text of an address: without leading zeros, the longest run of zero groups as `::`, in lower case. An IPv4
 * address in IPv6 form is written as what it is.
 */
export function formatIPAddress(text: string): string {
  if (isIPv4(text)) return text.split('.').map(Number).join('.');
  // The URL parser writes IPv6 as RFC 5952 says.
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical);
  if (mapped === null) return canonical;
  return mapped
    .slice(1)
    .map(group => parseInt(group, 16))
    .flatMap(group => [group >> 8, group & 0xff])
    .join('.');
}

/** True for dotted IPv4. */
export function isIPv4(text: string): boolean {
  const octets = text.split('.');
  return octets.length === 4 && octets.every(octet => /^\d+$/.test(octet) && Number(octet) <= 255);
}

function isIPv6(text: string): boolean {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return false;
  const before = groups(head, tail === undefined);
  if (tail === undefined) return before === 8;
  const after = groups(tail, true);
  return before !== null && after !== null && before + after < 8;
}

/** How many 16-bit groups a run of an IPv6 address has; null when it is none. Only the last may hold an IPv4 address. */
function groups(run: string, last: boolean): number | null {
  if (run === '') return 0;
  const parts = run.split(':');
  const final = parts.at(-1) ?? '';
  const embedded = last && final.includes('.');
  if (embedded && !isIPv4(final)) return null;
  const hex = embedded ? parts.slice(0, -1) : parts;
  if (!hex.every(part => /^[0-9a-fA-F]{1,4}$/.test(part))) return null;
  return hex.length + (embedded ? 2 : 0);
}
