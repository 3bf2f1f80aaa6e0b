import {describe, expect, test} from 'vitest';
import {
  chainsOf,
  cleanupRules,
  emptyNewTables,
  forwardingRules,
  tablesOf,
} from '../../../src/host/embedded-runtime/iptables.js';

const POD = 'CNI-d3b07384d113edec49eaa623';
const DNAT = 'CNI-DN-d3b07384d113edec49eaa';
const comment = (network: string): string => `-m comment --comment "name: \\"${network}\\" id: \\"abc\\""`;
const dnat = (network: string): string => `-m comment --comment "dnat name: \\"${network}\\" id: \\"abc\\""`;

/** What the plugins leave for one pod with a host port of a network. */
const rulesOf = (network: string, pod = POD, dn = DNAT): string => `
-A POSTROUTING -s 10.1.0.2/32 ${comment(network)} -j ${pod}
-A ${pod} -d 10.1.0.0/22 ${comment(network)} -j ACCEPT
-A ${pod} ! -d 224.0.0.0/4 ${comment(network)} -j MASQUERADE
-A CNI-HOSTPORT-DNAT -p tcp ${dnat(network)} -m multiport --dports 8080 -j ${dn}
-A ${dn} -s 10.1.0.0/22 -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK
-A ${dn} -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.1.0.2:80`;

const SHARED = `
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ
-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE
-A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j MARK --set-xmark 0x2000/0x2000`;

const BUILT_IN = ':PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]';
const SHARED_CHAINS = ':CNI-HOSTPORT-DNAT - [0:0]\n:CNI-HOSTPORT-MASQ - [0:0]\n:CNI-HOSTPORT-SETMARK - [0:0]';
const table = (...parts: readonly string[]): string =>
  `# Generated\n*nat\n${BUILT_IN}\n${parts.join('\n').replaceAll(/\n+/g, '\n')}\nCOMMIT\n# Completed\n`;
const sorted = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter(line => line !== '')
    .toSorted();

describe('rules to remove', () => {
  test('are those of the network, its chains, and the shared chains that nobody uses any more', () => {
    const save = table(SHARED_CHAINS, `:${POD} - [0:0]\n:${DNAT} - [0:0]`, SHARED, rulesOf('ours'));
    const cleanup = cleanupRules(save, 'ours', []);
    expect(sorted(cleanup)).toEqual(
      sorted(`*nat
-D POSTROUTING -s 10.1.0.2/32 ${comment('ours')} -j ${POD}
-D PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-D OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-D POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ
-F ${POD}
-F ${DNAT}
-F CNI-HOSTPORT-DNAT
-F CNI-HOSTPORT-SETMARK
-F CNI-HOSTPORT-MASQ
-X ${POD}
-X ${DNAT}
-X CNI-HOSTPORT-DNAT
-X CNI-HOSTPORT-SETMARK
-X CNI-HOSTPORT-MASQ
COMMIT`),
    );
    // A chain is emptied before any chain is removed: they refer to each other.
    expect(cleanup.lastIndexOf('-F ')).toBeLessThan(cleanup.indexOf('-X '));
  });

  test('leave the shared chains to another network that uses them', () => {
    const theirs = rulesOf('theirs', 'CNI-aaaaaaaaaaaaaaaaaaaaaaaa', 'CNI-DN-bbbbbbbbbbbbbbbbbbbbb');
    const cleanup = cleanupRules(table(SHARED_CHAINS, SHARED, rulesOf('ours'), theirs), 'ours', []);
    expect(cleanup).toContain(`-X ${POD}`);
    expect(cleanup).not.toMatch(/theirs|-[FX] CNI-HOSTPORT|-D PREROUTING/);
    expect(cleanup).toContain('-D CNI-HOSTPORT-DNAT');
  });

  test('leave shared chains that were there before', () => {
    const before = chainsOf(table(SHARED_CHAINS, SHARED));
    expect(cleanupRules(table(SHARED_CHAINS, SHARED), 'ours', before)).toBe('');
  });

  test('are none where there is nothing of the network', () => {
    expect(cleanupRules('', 'ours', [])).toBe('');
    expect(cleanupRules(table(':DOCKER - [0:0]', '-A POSTROUTING -j DOCKER'), 'ours', [])).toBe('');
  });

  test('never touch chains that only look alike', () => {
    const save = table(':CNI-mine - [0:0]', `-A POSTROUTING ${comment('ours')} -j CNI-mine`, '-A CNI-mine -j ACCEPT');
    expect(cleanupRules(save, 'ours', [])).toBe(`*nat\n-D POSTROUTING ${comment('ours')} -j CNI-mine\nCOMMIT\n`);
  });
});

test('a new table is empty when it has neither rules nor chains nor a policy of anybody', () => {
  expect(tablesOf(table())).toEqual(['nat']);
  expect(emptyNewTables(table(), [])).toEqual(['nat']);
  expect(emptyNewTables(table(), ['nat'])).toEqual([]);
  expect(emptyNewTables(table(':DOCKER - [0:0]'), [])).toEqual([]);
  expect(emptyNewTables(table('-A POSTROUTING -j ACCEPT'), [])).toEqual([]);
  expect(emptyNewTables('*filter\n:FORWARD DROP [0:0]\nCOMMIT\n', [])).toEqual([]);
});

describe('forwarding', () => {
  const filter = (policy: string, ...rules: readonly string[]): string =>
    `*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ${policy} [0:0]\n${rules.join('\n')}\nCOMMIT\n`;
  const own = (direction: string): string =>
    `FORWARD ${direction} mkb-1 -m comment --comment "name: \\"ours\\"" -j ACCEPT`;

  test('is let through where the host drops it by default, once', () => {
    const rules = forwardingRules(filter('DROP', '-A FORWARD -j DOCKER-USER'), 'ours', 'mkb-1');
    expect(rules).toBe(`*filter\n-I ${own('-i')}\n-I ${own('-o')}\nCOMMIT\n`);
    expect(forwardingRules(filter('DROP', `-A ${own('-i')}`), 'ours', 'mkb-1')).toBe('');
  });

  test('needs no rule where the host forwards, or has no filter at all', () => {
    expect(forwardingRules(filter('ACCEPT'), 'ours', 'mkb-1')).toBe('');
    expect(forwardingRules(table(), 'ours', 'mkb-1')).toBe('');
  });

  test('ends with the network', () => {
    const save = filter('DROP', `-A ${own('-i')}`, `-A ${own('-o')}`, '-A FORWARD -j DOCKER-USER');
    expect(cleanupRules(save, 'ours', [])).toBe(`*filter\n-D ${own('-i')}\n-D ${own('-o')}\nCOMMIT\n`);
  });
});
