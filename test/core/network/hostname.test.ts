import {describe, expect, test} from 'vitest';
import {PodError} from '../../../src/core/errors.js';
import {kernelHostname, podHostname} from '../../../src/core/network/hostname.js';
import {aPod, withMetadata, withSpec} from '../../support/builders.js';

describe('a pod is called', () => {
  test.for([
    ['by its name', {}, '', 'web-node1', ''],
    ['by its hostname', {hostname: 'box'}, '', 'box', ''],
    ['below its subdomain', {subdomain: 'lan'}, 'cluster.local', 'web-node1', 'lan.default.svc.cluster.local'],
    ['below its subdomain, also without a cluster', {subdomain: 'lan'}, '', 'web-node1', 'lan.default.svc.'],
    ['by an override alone', {hostnameOverride: 'a.b', hostname: 'No_Label', subdomain: 'x.y'}, '', 'a.b', ''],
  ] as const)('%s', ([, spec, clusterDomain, hostname, domain]) => {
    expect(podHostname(aPod(withSpec(spec)), clusterDomain)).toEqual({hostname, domain});
  });

  test('by 63 characters at most, the last one a letter or digit', () => {
    const name = `${'a'.repeat(60)}-.-bcd`;
    expect(podHostname(aPod(withMetadata({name})), '').hostname).toBe('a'.repeat(60));
  });
});

describe('refused are', () => {
  test.for([
    [{hostname: 'a.b'}, 'pod Hostname "a.b" is not a valid DNS label: must not contain dots'],
    [{subdomain: 'Bad'}, 'pod Subdomain "Bad" is not a valid DNS label: a lowercase RFC 1123 label'],
    [{hostname: 'a'.repeat(64)}, 'must be no more than 63 characters'],
  ] as const)('%o', ([spec, message]) => {
    const build = (): unknown => podHostname(aPod(withSpec(spec)), '');
    expect(build).toThrow(PodError);
    expect(build).toThrow(message);
  });
});

describe('the kernel is told', () => {
  const place = {hostname: 'web', domain: 'lan.default.svc.cluster.local'};
  test.for([
    ['the short name', place, undefined, 'web'],
    ['the short name where there is no domain', {hostname: 'web', domain: ''}, true, 'web'],
    ['the full name where it is asked for', place, true, 'web.lan.default.svc.cluster.local'],
  ] as const)('%s', ([, hostname, asFQDN, want]) => {
    expect(kernelHostname(hostname, asFQDN)).toBe(want);
  });

  test('no full name that is too long for it', () => {
    const domain = 'd'.repeat(61);
    expect(kernelHostname({hostname: 'ab', domain}, true)).toHaveLength(64);
    expect(() => kernelHostname({hostname: 'abc', domain}, true)).toThrow('64 characters is the max, 65 characters');
  });
});
