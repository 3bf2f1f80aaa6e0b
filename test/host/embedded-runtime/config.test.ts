import {describe, expect, test} from 'vitest';
import {cniConfig, containerdConfig} from '../../../src/host/embedded-runtime/config.js';
import {canLowerOOMScore} from '../../../src/host/embedded-runtime/host-facts.js';
import {embeddedEndpoint, runtimePaths} from '../../../src/host/embedded-runtime/paths.js';

const paths = runtimePaths('/var/lib/minikubelet');
const facts = {
  cniBinDir: '/usr/lib/cni',
  runcPath: '/usr/sbin/runc',
  canLowerOOMScore: false,
  snapshotter: 'overlayfs',
  sandboxImage: 'minikubelet.dev/pause:1',
} as const;

describe('paths of the embedded runtime', () => {
  test('are all below the root directory', () => {
    for (const path of Object.values<string>({...paths})) {
      if (path.startsWith('/') && path !== '/var/lib/minikubelet') expect(path).toMatch(/^\/var\/lib\/minikubelet\//);
    }
    expect(embeddedEndpoint('/x')).toBe('unix:///x/runtime/containerd.sock');
  });

  test('give names of the machine that differ by root directory and fit an interface name', () => {
    const other = runtimePaths('/var/lib/other');
    expect(other.bridge).not.toBe(paths.bridge);
    expect(other.network).not.toBe(paths.network);
    expect(paths.bridge.length).toBeLessThanOrEqual(15);
  });
});

describe('containerd’s configuration', () => {
  test('keeps oom_score_adj only where it may not be lowered', () => {
    expect(containerdConfig(paths, facts)).toContain('restrict_oom_score_adj = true');
    expect(containerdConfig(paths, {...facts, canLowerOOMScore: true})).toContain('restrict_oom_score_adj = false');
  });

  test('names no path outside but programs', () => {
    const outside = [...containerdConfig(paths, facts).matchAll(/"(\/[^"]+)"/g)]
      .map(match => match[1])
      .filter(path => path?.startsWith('/var/lib/minikubelet/') !== true);
    expect(outside).toEqual(['/usr/lib/cni', '/usr/sbin/runc']);
  });

  test('quotes what TOML would misread', () => {
    expect(containerdConfig(runtimePaths('/a "b"\\c'), facts)).toContain('state = "/a \\"b\\"\\\\c/runtime/state"');
  });
});

describe('the CNI network', () => {
  const pluginsOf = (hasIptables: boolean, hasPortmap: boolean): readonly Record<string, unknown>[] =>
    (
      JSON.parse(cniConfig(paths, {subnet: '10.128.0.0/22', hasIptables, hasPortmap})) as {
        plugins: readonly Record<string, unknown>[];
      }
    ).plugins;

  test('masquerades and maps host ports with iptables', () => {
    expect(pluginsOf(true, true).map(plugin => plugin['type'])).toEqual(['bridge', 'portmap']);
    expect(pluginsOf(true, true)[0]).toMatchObject({
      bridge: paths.bridge,
      ipMasq: true,
      ipam: {type: 'host-local', dataDir: paths.ipamDir, ranges: [[{subnet: '10.128.0.0/22'}]]},
    });
  });

  test('does neither without', () => {
    expect(pluginsOf(false, true)).toMatchObject([{type: 'bridge', ipMasq: false}]);
  });
});

test.for([
  ['000001ffffffffff', true],
  ['000001fffeffffff', false],
  ['0000000000000000', false],
] as const)('capabilities %s allow oom_score_adj to be lowered: %s', ([mask, want]) => {
  expect(canLowerOOMScore(`Name:\tx\nCapEff:\t${mask}\nCapBnd:\t000001ffffffffff\n`)).toBe(want);
});
