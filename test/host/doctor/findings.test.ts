import {describe, expect, test} from 'vitest';
import type {Finding} from '../../../src/host/doctor/finding.js';
import {findings} from '../../../src/host/doctor/findings.js';
import type {HostFacts, RuntimeAnswer} from '../../../src/host/facts.js';

type Answer = Extract<RuntimeAnswer, {answers: true}>;

const answer: Answer = {
  answers: true,
  runtime: 'containerd 1.6.20',
  apiVersion: 'v1',
  conditions: [
    {type: 'RuntimeReady', status: true, reason: '', message: ''},
    {type: 'NetworkReady', status: true, reason: '', message: ''},
  ],
  config: {
    cniConfDir: '/etc/cni/net.d',
    cniBinDirs: ['/opt/cni/bin'],
    sandboxImage: 'registry.k8s.io/pause:3.6',
    cgroupDriver: 'systemd',
    restrictOOMScoreAdj: false,
  },
};
const healthy: HostFacts = {
  endpoint: 'unix:///run/containerd/containerd.sock',
  configuredBy: 'the well-known sockets',
  isRoot: true,
  embedded: false,
  runtime: answer,
  cni: {configFiles: ['/etc/cni/net.d/10-net.conflist'], plugins: ['bridge', 'host-local'], missingPlugins: []},
  daemonCanLowerOOMScore: true,
  mountsReachDaemon: true,
  cgroups: {version: 2, hybrid: false, limitation: null, controllers: ['cpu', 'memory', 'pids'], systemd: true},
  hasSandboxImage: true,
  disks: [{path: '/var/lib/minikubelet', purpose: 'volumes and state', totalBytes: 1000 << 20, freeBytes: 500 << 20}],
  kubelets: [],
};
const withConfig = (config: Partial<NonNullable<Answer['config']>>): RuntimeAnswer => ({
  ...answer,
  config: {...answer.config!, ...config},
});

/** Findings that are not ok, of a healthy host with these facts changed. */
function troubles(changes: Partial<HostFacts>): readonly Finding[] {
  return findings({...healthy, ...changes}).filter(finding => finding.level !== 'ok');
}

test('a healthy host has nothing to mend', () => {
  const all = findings(healthy);
  expect(all.map(({check, level, remedy}) => `${check} ${level}${remedy}`)).toEqual(
    [
      'root',
      'runtime',
      'api-version',
      'runtime-ready',
      'cni-config',
      'cni-plugins',
      'network-ready',
      'oom-score',
      'mounts',
      'cgroup-driver',
      'pause-image',
      'kubelet',
      'cgroups',
      'disk',
    ].map(check => `${check} ok`),
  );
});

describe('doctor finds', () => {
  test.for<{
    name: string;
    facts: Partial<HostFacts>;
    check: string;
    level: Finding['level'];
    says: RegExp;
    remedy: RegExp;
  }>([
    {
      name: 'no socket',
      facts: {runtime: {answers: false, message: 'no socket at unix:///run/x.sock', hint: 'start the runtime there'}},
      check: 'runtime',
      level: 'error',
      says: /^no socket at unix:\/\/\/run\/x\.sock$/,
      remedy: /start the runtime/,
    },
    {
      name: 'no permission',
      facts: {runtime: {answers: false, message: 'permission denied on unix:///run/x.sock', hint: 'try: sudo'}},
      check: 'runtime',
      level: 'error',
      says: /permission denied/,
      remedy: /sudo/,
    },
    {
      name: 'that it is not root',
      facts: {isRoot: false},
      check: 'root',
      level: 'error',
      says: /not running as root/,
      remedy: /sudo/,
    },
    {
      name: 'a wrong API version',
      facts: {runtime: {...answer, apiVersion: 'v1alpha2'}},
      check: 'api-version',
      level: 'error',
      says: /serves CRI v1alpha2, not v1/,
      remedy: /containerd 1\.6 or later/,
    },
    {
      name: 'a runtime that is not ready',
      facts: {
        runtime: {
          ...answer,
          conditions: [
            {type: 'RuntimeReady', status: false, reason: 'x', message: 'containerd: shutting down'},
            {type: 'NetworkReady', status: true, reason: '', message: ''},
          ],
        },
      },
      check: 'runtime-ready',
      level: 'error',
      says: /not ready: containerd: shutting down/,
      remedy: /journalctl/,
    },
    {
      name: 'a missing CNI configuration',
      facts: {cni: {configFiles: [], plugins: [], missingPlugins: []}},
      check: 'cni-config',
      level: 'error',
      says: /no CNI network configuration in \/etc\/cni\/net\.d/,
      remedy: /\.conflist.*embedded runtime/,
    },
    {
      name: 'a missing CNI plugin',
      facts: {
        cni: {configFiles: ['/etc/cni/net.d/a.conf'], plugins: ['bridge'], missingPlugins: ['bridge', 'loopback']},
      },
      check: 'cni-plugins',
      level: 'error',
      says: /bridge, loopback are not in \/opt\/cni\/bin/,
      remedy: /containernetworking-plugins/,
    },
    {
      name: 'a network that is not ready',
      facts: {
        runtime: {
          ...answer,
          conditions: [
            {type: 'RuntimeReady', status: true, reason: '', message: ''},
            {type: 'NetworkReady', status: false, reason: 'x', message: 'cni plugin not initialized'},
          ],
        },
      },
      check: 'network-ready',
      level: 'error',
      says: /cni plugin not initialized/,
      remedy: /CNI/,
    },
    {
      name: 'a runtime without CAP_SYS_RESOURCE',
      facts: {daemonCanLowerOOMScore: false},
      check: 'oom-score',
      level: 'error',
      says: /no CAP_SYS_RESOURCE/,
      remedy: /restrict_oom_score_adj = true/,
    },
    {
      name: 'that capabilities could not be read',
      facts: {daemonCanLowerOOMScore: null},
      check: 'oom-score',
      level: 'unknown',
      says: /could not be read/,
      remedy: /root/,
    },
    {
      name: 'mounts that do not reach the daemon',
      facts: {mountsReachDaemon: false},
      check: 'mounts',
      level: 'error',
      says: /do not reach the runtime/,
      remedy: /make-rshared/,
    },
    {
      name: 'mounts that do not reach the embedded runtime',
      facts: {mountsReachDaemon: false, embedded: true},
      check: 'mounts',
      level: 'error',
      says: /do not reach/,
      remedy: /runtime stop, then minikubelet runtime start/,
    },
    {
      name: 'mounts that could not be tried',
      facts: {mountsReachDaemon: 'only root can try'},
      check: 'mounts',
      level: 'unknown',
      says: /^only root can try$/,
      remedy: /root/,
    },
    {
      name: 'no cgroups',
      facts: {cgroups: {...healthy.cgroups, version: null}},
      check: 'cgroups',
      level: 'error',
      says: /no cgroups are mounted/,
      remedy: /cgroup2/,
    },
    {
      name: 'cgroups that cannot be written',
      facts: {cgroups: {...healthy.cgroups, limitation: 'cgroups cannot be written (EROFS)'}},
      check: 'cgroups',
      level: 'warning',
      says: /cgroup v2; cgroups cannot be written/,
      remedy: /writable/,
    },
    {
      name: 'missing controllers',
      facts: {cgroups: {...healthy.cgroups, controllers: ['cpu']}},
      check: 'cgroups',
      level: 'warning',
      says: /without the controllers memory, pids/,
      remedy: /kernel/,
    },
    {
      name: 'the systemd driver without systemd',
      facts: {cgroups: {...healthy.cgroups, systemd: false}},
      check: 'cgroup-driver',
      level: 'error',
      says: /systemd is not the init system/,
      remedy: /SystemdCgroup = false/,
    },
    {
      name: 'the cgroupfs driver beside systemd',
      facts: {runtime: withConfig({cgroupDriver: 'cgroupfs'})},
      check: 'cgroup-driver',
      level: 'warning',
      says: /beside systemd/,
      remedy: /SystemdCgroup = true/,
    },
    {
      name: 'no pause image',
      facts: {hasSandboxImage: false},
      check: 'pause-image',
      level: 'warning',
      says: /registry\.k8s\.io\/pause:3\.6/,
      remedy: /images import/,
    },
    {
      name: 'a disk that is nearly full',
      facts: {disks: [{path: '/data', purpose: 'images', totalBytes: 1000 << 20, freeBytes: 100 << 20}]},
      check: 'disk',
      level: 'warning',
      says: /only 10 % \(100 MiB\) is free at \/data, for images/,
      remedy: /remove images/,
    },
    {
      name: 'a full disk',
      facts: {disks: [{path: '/data', purpose: 'logs', totalBytes: 1000 << 20, freeBytes: 1}]},
      check: 'disk',
      level: 'error',
      says: /only 0 %/,
      remedy: /--root-dir/,
    },
    {
      name: 'a kubelet on the same runtime',
      facts: {kubelets: [{pid: 7, command: 'kubelet', socket: '/run/containerd/containerd.sock', sameRuntime: true}]},
      check: 'kubelet',
      level: 'error',
      says: /pid 7.*stops pods/,
      remedy: /embedded runtime/,
    },
  ])('$name', ({facts, check, level, says, remedy}) => {
    const found = troubles(facts);
    expect(found.map(finding => [finding.check, finding.level])).toEqual([[check, level]]);
    expect(found[0]?.message).toMatch(says);
    expect(found[0]?.remedy).toMatch(remedy);
  });

  test('nothing wrong with a kubelet on another runtime, and names it', () => {
    const kubelets = [{pid: 7, command: 'k3s', socket: '/run/k3s/containerd/containerd.sock', sameRuntime: false}];
    expect(findings({...healthy, kubelets}).find(({check}) => check === 'kubelet')).toMatchObject({
      level: 'ok',
      message: 'a kubelet (pid 7) runs here, on another runtime (/run/k3s/containerd/containerd.sock)',
    });
  });

  test('nothing wrong with a runtime that keeps oom_score_adj, nor with the embedded one beside systemd', () => {
    expect(troubles({daemonCanLowerOOMScore: false, runtime: withConfig({restrictOOMScoreAdj: true})})).toEqual([]);
    expect(troubles({embedded: true, runtime: withConfig({cgroupDriver: 'cgroupfs'})})).toEqual([]);
  });

  test('less of a runtime that tells nothing of itself, and no more is claimed', () => {
    const found = findings({...healthy, runtime: {...answer, config: null}, cni: null, hasSandboxImage: null});
    expect(found.map(({check}) => check)).not.toContain('cni-config');
    expect(found.every(({level}) => level === 'ok')).toBe(true);
  });
});

test('every trouble ends with what to do', () => {
  const worst = findings({
    ...healthy,
    isRoot: false,
    cni: {configFiles: [], plugins: [], missingPlugins: []},
    daemonCanLowerOOMScore: null,
    mountsReachDaemon: false,
    hasSandboxImage: false,
    cgroups: {...healthy.cgroups, version: null},
  });
  for (const {level, remedy} of worst) expect(remedy === '').toBe(level === 'ok');
});
