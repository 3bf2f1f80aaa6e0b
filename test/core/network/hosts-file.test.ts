import {expect, test} from 'vitest';
import {hostsFile} from '../../../src/core/network/hosts-file.js';

const BASE = {hostname: 'web', domain: '', podIPs: ['10.0.0.5', 'fd00::5'], hostAliases: [], nodeHostsFile: null};

test('a pod finds itself by every address, below the names of this host', () => {
  const lines = hostsFile(BASE).split('\n');
  expect(lines[0]).toBe('# Kubernetes-managed hosts file.');
  expect(lines).toContain('127.0.0.1\tlocalhost');
  expect(lines.slice(-3)).toEqual(['10.0.0.5\tweb', 'fd00::5\tweb', '']);
});

test('the full name comes first', () => {
  expect(hostsFile({...BASE, domain: 'lan.svc', podIPs: ['10.0.0.5']})).toMatch(/\n10\.0\.0\.5\tweb\.lan\.svc\tweb\n$/);
});

test('aliases are added, one line an address', () => {
  const hostAliases = [{ip: '10.0.0.9', hostnames: ['db', 'db.lan']}, {ip: '10.0.0.8'}];
  expect(hostsFile({...BASE, hostAliases})).toMatch(
    /\n\n# Entries added by HostAliases\.\n10\.0\.0\.9\tdb\tdb\.lan\n10\.0\.0\.8\t\n$/,
  );
});

test("a pod on the host network gets the host's file as it is", () => {
  const nodeHostsFile = '127.0.0.1 localhost\n10.1.1.1 node1';
  expect(hostsFile({...BASE, nodeHostsFile})).toBe(`# Kubernetes-managed hosts file (host network).\n${nodeHostsFile}`);
});
