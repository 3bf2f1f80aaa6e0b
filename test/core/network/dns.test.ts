import {describe, expect, test} from 'vitest';
import {PodError} from '../../../src/core/errors.js';
import {podDns, type PodDns, type PodDnsInput} from '../../../src/core/network/dns.js';
import {parseResolvConf} from '../../../src/core/network/resolv-conf.js';
import type {PodSpec} from '../../../src/core/pod/types.js';
import {aPod, withSpec} from '../../support/builders.js';

const HOST = 'nameserver 10.0.0.2\nsearch lan\noptions ndots:1\n';

function dnsOf(spec: Partial<PodSpec>, overrides: Partial<PodDnsInput> = {}): PodDns {
  const pod = aPod(withSpec(spec));
  return podDns({
    pod,
    resolvConf: HOST,
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    nodeIPs: [],
    ...overrides,
  });
}

const OF_HOST = {servers: ['10.0.0.2'], searches: ['lan'], options: ['ndots:1']};
const OF_CLUSTER = {
  servers: ['10.96.0.10'],
  searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'lan'],
  options: ['ndots:5'],
};

describe('a policy', () => {
  test.for([
    ['Default', {dnsPolicy: 'Default'}, OF_HOST],
    ['None', {dnsPolicy: 'None'}, {servers: [], searches: [], options: []}],
    ['ClusterFirst', {dnsPolicy: 'ClusterFirst'}, OF_CLUSTER],
    ['ClusterFirst on the host network', {dnsPolicy: 'ClusterFirst', hostNetwork: true}, OF_HOST],
    [
      'ClusterFirstWithHostNet on the host network',
      {dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true},
      OF_CLUSTER,
    ],
    ['that nobody knows', {dnsPolicy: 'Bogus', hostNetwork: true}, OF_CLUSTER],
  ] as const)('%s', ([, spec, config]) => {
    expect(dnsOf(spec)).toEqual({config, events: []});
  });

  test("ClusterFirst without a cluster's servers falls back to the host's, and says so", () => {
    const {config, events} = dnsOf({dnsPolicy: 'ClusterFirst'}, {clusterDNS: []});
    expect(config).toEqual(OF_HOST);
    expect(events.map(({subject, reason}) => [subject, reason])).toEqual([
      ['node', 'MissingClusterDNS'],
      ['pod', 'MissingClusterDNS'],
    ]);
  });

  test('of a host without resolv.conf leads to its own resolver, of the family of its addresses', () => {
    const own = (nodeIPs: string[]): unknown => dnsOf({dnsPolicy: 'Default'}, {resolvConf: null, nodeIPs}).config;
    expect(own([])).toEqual({servers: ['127.0.0.1'], searches: ['.'], options: []});
    expect(own(['10.0.0.1', 'fd00::1'])).toMatchObject({servers: ['127.0.0.1', '::1']});
  });
});

describe('dnsConfig', () => {
  test('adds servers and domains once, and overrides options by name', () => {
    const dnsConfig = {
      nameservers: ['9.9.9.9', '10.0.0.2'],
      searches: ['corp', 'lan'],
      options: [{name: 'ndots', value: '2'}, {name: 'edns0'}],
    };
    expect(dnsOf({dnsPolicy: 'Default', dnsConfig}).config).toEqual({
      servers: ['10.0.0.2', '9.9.9.9'],
      searches: ['lan', 'corp'],
      options: ['edns0', 'ndots:2'],
    });
  });

  test('beyond three servers is cut, and that is said', () => {
    const {config, events} = dnsOf({
      dnsPolicy: 'None',
      dnsConfig: {nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4']},
    });
    expect(config.servers).toEqual(['1.1.1.1', '2.2.2.2', '3.3.3.3']);
    expect(events[0]).toMatchObject({
      reason: 'DNSConfigForming',
      message: expect.stringMatching(/: 1\.1\.1\.1 2\.2\.2\.2 3\.3\.3\.3$/) as string,
    });
  });

  test.for([
    ['more than 32 domains', Array.from({length: 33}, (_, index) => `d${index}`), 32],
    ['a domain too long to be one', ['a'.repeat(254), 'lan'], 1],
    ['a line of more than 2048 characters', Array.from({length: 10}, (_, index) => `${index}${'a'.repeat(252)}`), 8],
  ] as const)('with %s is cut', ([, searches, kept]) => {
    const {config, events} = dnsOf({dnsPolicy: 'None', dnsConfig: {searches}});
    expect(config.searches).toHaveLength(kept);
    expect(events).toHaveLength(1);
  });
});

describe('resolv.conf', () => {
  test('adds up servers, and takes the last search and options lines', () => {
    const text =
      '# c\n; c\ndomain old\n nameserver  1.1.1.1 x\nnameserver 2.2.2.2\nsearch a b.\nsearch c. . d\noptions x\noptions y z\n';
    expect(parseResolvConf(text)).toEqual({servers: ['1.1.1.1', '2.2.2.2'], searches: ['c', 'd'], options: ['y', 'z']});
  });

  test('with a server line that names none is refused', () => {
    expect(() => parseResolvConf('nameserver\n')).toThrow(PodError);
  });
});
