import {describe, expect, test} from 'vitest';
import {findKubelets, kubeletOf, refuseKubelet, socketOfConfig} from '../../src/host/kubelet-process.js';
import {listeningInode, socketOwner} from '../../src/host/socket-owner.js';
import {createServer} from 'node:net';
import {spawn} from 'node:child_process';
import {mkdtemp, rm, symlink} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const CONTAINERD = '/run/containerd/containerd.sock';

describe('a command line', () => {
  test.for<[string, string | null]>([
    ['/usr/bin/kubelet', CONTAINERD],
    ['/usr/bin/kubelet --container-runtime-endpoint=unix:///run/crio/crio.sock --v=2', '/run/crio/crio.sock'],
    ['/usr/bin/kubelet --container-runtime-endpoint unix:///var/run/cri-dockerd.sock', '/run/cri-dockerd.sock'],
    ['kubelet -container-runtime-endpoint=/run/x.sock', '/run/x.sock'],
    ['/usr/local/bin/k3s agent', '/run/k3s/containerd/containerd.sock'],
    ['/usr/local/bin/k3s kubectl get pods', null],
    ['k0s worker --token', '/run/k0s/containerd.sock'],
    ['/snap/microk8s/1/kubelite --scheduler', '/var/snap/microk8s/common/run/containerd.sock'],
    ['vim kubelet.log', null],
    ['minikubelet watch ./pods', null],
  ])('%s drives %s', ([line, socket]) => {
    const kubelet = kubeletOf(line.split(' '));
    expect(kubelet === null ? null : (kubelet.socket ?? kubelet.fallback)).toBe(socket);
  });
});

test.for<[string, string | null]>([
  ['kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/x.sock\n', '/run/x.sock'],
  ['containerRuntimeEndpoint: "unix:///var/run/y.sock" # comment', '/run/y.sock'],
  ['{"kind":"KubeletConfiguration",\n"containerRuntimeEndpoint":"/z.sock","a":1}', '/z.sock'],
  ['kind: KubeletConfiguration\n', null],
])('the configuration %j names %s', ([text, socket]) => {
  expect(socketOfConfig(text)).toBe(socket);
});

test('the listener of a path is found, not those who are connected to it', () => {
  const table = `Num       RefCount Protocol Flags    Type St Inode Path
0000: 00000003 00000000 00000000 0001 03 100 /run/a.sock
0000: 00000002 00000000 00010000 0001 01 200 /run/a.sock
0000: 00000002 00000000 00010000 0001 01 300 /run/a b.sock
0000: 00000002 00000000 00010000 0001 01 400
`;
  expect(listeningInode(table, '/run/a.sock')).toBe('200');
  expect(listeningInode(table, '/run/a b.sock')).toBe('300');
  expect(listeningInode(table, '/run')).toBeNull();
});

test('a kubelet that drives our socket is found by the socket, whatever the path is called, and refused', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'mk-kubelet-'));
  const socket = join(dir, 'runtime.sock');
  const server = createServer().listen(socket);
  // Not kubelets, but they are called so, as far as the process table can tell.
  await symlink('/usr/bin/sleep', join(dir, 'kubelet'));
  await symlink(process.execPath, join(dir, 'k0s'));
  const kubelet = spawn(join(dir, 'kubelet'), ['1000']);
  try {
    expect(await socketOwner(socket)).toBe(process.pid);
    const found = await findKubelets(`unix://${socket}`);
    expect(found.find(({pid}) => pid === kubelet.pid)).toMatchObject({socket: CONTAINERD, sameRuntime: false});
    await refuseKubelet(`unix://${socket}`);
    const same = spawn(join(dir, 'k0s'), [
      '-e',
      'setTimeout(() => 0, 1e6)',
      '--',
      'worker',
      `--container-runtime-endpoint=unix://${socket}`,
    ]);
    try {
      await expect(refuseKubelet(`unix://${dir}/../${dir.split('/').pop()}/runtime.sock`)).rejects.toMatchObject({
        name: 'HostError',
        hint: expect.stringContaining('--with-kubelet') as unknown,
      });
    } finally {
      same.kill();
    }
  } finally {
    kubelet.kill();
    server.close();
    await rm(dir, {recursive: true});
  }
});
