import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  chooseSubnet,
  formatSubnet,
  overlaps,
  parseNameservers,
  parseRoutes,
  type Subnet,
} from '../../../src/host/embedded-runtime/subnet.js';

const ROUTES = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
`;

test('routes are read in the byte order of the kernel', () => {
  expect(parseRoutes(ROUTES).map(formatSubnet)).toEqual(['0.0.0.0/0', '192.0.2.0/24', '172.17.0.0/16']);
});

test('name servers are single addresses, IPv6 ones are of no interest', () => {
  expect(
    parseNameservers('nameserver 10.200.1.2\n# nameserver 1.1.1.1\nnameserver fe80::1\n').map(formatSubnet),
  ).toEqual(['10.200.1.2/32']);
});

describe('the chosen subnet', () => {
  const subnet = fc
    .record({address: fc.nat(2 ** 31 - 1).map(half => half * 2), prefix: fc.integer({min: 0, max: 32})})
    .map(({address, prefix}): Subnet => ({address: address - (address % 2 ** (32 - prefix)), prefix}));

  test('overlaps no route, lies in 10.128.0.0/9, and is the same for the same seed', () => {
    fc.assert(
      fc.property(fc.array(subnet, {maxLength: 30}), fc.nat(), (taken, seed) => {
        const chosen = chooseSubnet(taken, seed);
        if (chosen === null) return taken.some(one => one.prefix > 0 && one.prefix <= 9);
        return (
          formatSubnet(chosen).startsWith('10.') &&
          chosen.address >= 10 * 2 ** 24 + 2 ** 23 &&
          taken.every(one => !overlaps(one, chosen)) &&
          JSON.stringify(chooseSubnet(taken, seed)) === JSON.stringify(chosen)
        );
      }),
    );
  });

  test('is none when the whole range has a route', () => {
    expect(chooseSubnet([{address: 10 * 2 ** 24, prefix: 8}], 1)).toBeNull();
  });

  test('ignores the default route', () => {
    expect(formatSubnet(chooseSubnet([{address: 0, prefix: 0}], 0)!)).toBe('10.128.0.0/22');
  });
});
