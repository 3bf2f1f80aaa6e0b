// Volumes as a container sees them: made by the volume manager, mounted by a real runtime, read through /proc/mounts.
import {execFile} from 'node:child_process';
import {mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {podFieldText, volumeResourceText} from '../../src/core/pod/downward-api.js';
import type {ConfigMap, Container, Pod, Secret, Volume} from '../../src/core/pod/types.js';
import type {PayloadSources} from '../../src/core/volumes/payload.js';
import {instanceDirs, makePodDir, podDir, podVolumesDir, type InstanceDirs} from '../../src/host/pod-dirs.js';
import {mountsUnder, readMountinfo} from '../../src/host/mountinfo.js';
import type {VolumeManager} from '../../src/host/volumes/types.js';
import {createVolumeManager} from '../../src/host/volumes/volume-manager.js';
import {silentLogger} from '../../src/lib/logger.js';
import {systemClock} from '../../src/lib/clock.js';
import type {CriConnection} from '../../src/cri/grpc-runtime-service.js';
import {removeCriPod, runCriPod, type CriPod} from '../support/cri-pods.js';
import {connectCri, noRuntimeReason, startTestRuntime, type TestRuntime} from '../support/embedded-runtime.js';

const signal = AbortSignal.timeout(170_000);
const configMaps: Record<string, ConfigMap> = {cfg: {data: {a: 'one', b: 'two'}}};
const secrets: Record<string, Secret> = {key: {data: {token: Buffer.from('s3cret').toString('base64')}}};
const sources: PayloadSources = {
  configMap: (_namespace, name) => configMaps[name],
  secret: (_namespace, name) => secrets[name],
  field: podFieldText,
  resource: (pod, selector) => volumeResourceText(pod, selector, {cpu: '4'}),
};

const volumes: readonly Volume[] = [
  {name: 'disk', emptyDir: {}},
  {name: 'mem', emptyDir: {medium: 'Memory', sizeLimit: '16Mi'}},
  {name: 'shm', emptyDir: {medium: 'Memory'}},
  {name: 'cfg', configMap: {name: 'cfg', defaultMode: 0o440}},
  {name: 'key', secret: {secretName: 'key', items: [{key: 'token', path: 'deep/token', mode: 0o400}]}},
  {
    name: 'me',
    downwardAPI: {
      items: [
        {path: 'labels', fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.labels'}},
        {path: 'cpu', resourceFieldRef: {containerName: 'main', resource: 'limits.cpu'}},
      ],
    },
  },
  {name: 'all', projected: {sources: [{configMap: {name: 'cfg'}}, {secret: {name: 'key'}}]}},
];
const container: Container = {
  name: 'main',
  image: 'docker.io/library/busybox:1.36',
  volumeMounts: [
    {name: 'disk', mountPath: '/disk'},
    {name: 'disk', mountPath: '/sub', subPath: 'a/b'},
    {name: 'disk', mountPath: '/subx', subPathExpr: 'x/$(SUB)'},
    {name: 'disk', mountPath: '/ro', readOnly: true},
    {name: 'mem', mountPath: '/mem'},
    {name: 'shm', mountPath: '/dev/shm'},
    {name: 'cfg', mountPath: '/cfg'},
    {name: 'cfg', mountPath: '/onefile', subPath: 'a'},
    {name: 'key', mountPath: '/key'},
    {name: 'me', mountPath: '/me'},
    {name: 'all', mountPath: '/all'},
    {name: 'disk', mountPath: '/all/nested'},
  ],
};
const pod = (uid: string): Pod => ({
  metadata: {name: 'p', namespace: 'default', uid, labels: {app: 'x', tier: 'y "z"'}},
  spec: {containers: [container], volumes, securityContext: {fsGroup: 4000}},
});

describe.skipIf(noRuntimeReason !== null)('volumes in a container', () => {
  let runtime: TestRuntime;
  let cri: CriConnection;
  let dirs: InstanceDirs;
  let manager: VolumeManager;
  let running: CriPod;

  beforeAll(async () => {
    runtime = await startTestRuntime();
    cri = connectCri(runtime.endpoint);
    dirs = instanceDirs(runtime.rootDir);
    manager = createVolumeManager({dirs, clock: systemClock, logger: silentLogger, allocatableMemory: '1Gi'});
    makePodDir(dirs, 'u1');
    await manager.mountPodVolumes(pod('u1'), sources, signal);
    const mounts = await manager.containerMounts(
      {
        pod: pod('u1'),
        container,
        env: {SUB: 'deep'},
        imageVolumes: new Map(),
        supportsRecursiveReadOnly: false,
        hostsFile: '10.0.0.1\tp\n',
      },
      signal,
    );
    running = await runCriPod(
      cri,
      {uid: 'u1', command: ['sleep', '1000'], logDirectory: join(runtime.rootDir, 'logs'), mounts},
      signal,
    );
  });
  afterAll(async () => {
    cri.close();
    await runtime.stop();
  });

  async function sh(script: string): Promise<string> {
    const {stdout, stderr} = await cri.runtime.execSync(running.container, ['sh', '-c', script], 0, signal);
    return Buffer.concat([stdout, stderr]).toString().trim();
  }
  /** "fstype options" of a mount point in the container. */
  const mount = (path: string): Promise<string> => sh(`awk '$2 == "${path}" {print $3, $4}' /proc/mounts | tail -n 1`);

  test('are tmpfs where they are secret, in memory, or about the pod', async () => {
    for (const path of ['/mem', '/dev/shm', '/key', '/me', '/all']) expect(await mount(path)).toMatch(/^tmpfs /);
    for (const path of ['/disk', '/sub', '/cfg']) expect(await mount(path)).not.toMatch(/^tmpfs /);
    expect(await mount('/mem')).toContain('size=16384k');
    expect(await mount('/dev/shm')).toContain('size=1048576k');
  });

  test('are read-only where the agent writes them or the pod says so', async () => {
    for (const path of ['/cfg', '/key', '/me', '/all', '/ro']) expect(await mount(path)).toMatch(/ ro,/);
    for (const path of ['/disk', '/sub', '/mem', '/etc/hosts', '/all/nested'])
      expect(await mount(path)).toMatch(/ rw,/);
  });

  test('hold what their objects say, with their modes and the fsGroup', async () => {
    expect(await sh('cat /cfg/a /cfg/b /onefile /key/deep/token /all/a /all/token')).toBe('onetwoones3cretones3cret');
    expect(await sh('cat /me/labels; echo; cat /me/cpu')).toBe('app="x"\ntier="y \\"z\\""\n4');
    expect(await sh('stat -Lc "%a %g" /cfg/a /key/deep/token /disk /mem')).toBe(
      '440 4000\n440 4000\n2777 4000\n3777 4000',
    );
    expect(await sh('cat /etc/hosts')).toBe('10.0.0.1\tp');
  });

  test('have subPaths that are parts of the volume', async () => {
    await sh('echo 1 > /sub/one; echo 2 > /subx/two; echo 3 > /all/nested/three');
    expect(await sh('cat /disk/a/b/one /disk/x/deep/two /disk/three /ro/three')).toBe('1\n2\n3\n3');
  });

  test('follow their objects at once and as a whole, but not through a subPath', async () => {
    configMaps.cfg = {data: {a: 'ONE', c: 'three'}};
    await manager.mountPodVolumes(pod('u1'), sources, signal);
    expect(await sh('ls /cfg; cat /cfg/a')).toBe('a\nc\nONE');
    expect(await sh('cat /onefile')).toBe('one');
  });

  test('are made again for a container that restarts, with what it wrote kept', async () => {
    const again = createVolumeManager({dirs, clock: systemClock, logger: silentLogger, allocatableMemory: '1Gi'});
    await sh('echo kept > /disk/kept; echo kept > /mem/kept; chmod 700 /disk');
    await again.mountPodVolumes(pod('u1'), sources, signal);
    expect(await sh('cat /disk/kept /mem/kept; stat -c %a /disk')).toBe('kept\nkept\n700');
    const before = mountsUnder(readMountinfo(), podDir(dirs, 'u1')).length;
    await again.containerMounts(
      {
        pod: pod('u1'),
        container,
        env: {SUB: 'deep'},
        imageVolumes: new Map(),
        supportsRecursiveReadOnly: false,
        hostsFile: null,
      },
      signal,
    );
    expect(mountsUnder(readMountinfo(), podDir(dirs, 'u1'))).toHaveLength(before);
  });

  test('have the hosts file put right when a container starts, and left alone where it is', async () => {
    const withHosts = (hostsFile: string): Promise<unknown> =>
      manager.containerMounts(
        {
          pod: pod('u1'),
          container: {name: 'main'},
          env: {},
          imageVolumes: new Map(),
          supportsRecursiveReadOnly: false,
          hostsFile,
        },
        signal,
      );
    const touched = async (): Promise<bigint> =>
      (await stat(join(podDir(dirs, 'u1'), 'etc-hosts'), {bigint: true})).mtimeNs;
    const before = await touched();
    await withHosts('10.0.0.1\tp\n');
    expect(await touched()).toBe(before);
    await sh('echo 10.9.9.9 evil >> /etc/hosts');
    await withHosts('10.0.0.1\tp\n');
    expect(await sh('cat /etc/hosts')).toBe('10.0.0.1\tp');
  });

  test('refuse a subPath that a container has turned into a link to the host', async () => {
    await sh('mv /disk/a /disk/real; ln -s / /disk/a');
    await expect(
      manager.containerMounts(
        {
          pod: pod('u1'),
          container,
          env: {SUB: 'deep'},
          imageVolumes: new Map(),
          supportsRecursiveReadOnly: false,
          hostsFile: null,
        },
        signal,
      ),
    ).rejects.toMatchObject({
      reason: 'CreateContainerConfigError',
      message: 'failed to create subPath directory for volumeMount "disk" of container "main"',
    });
    await sh('ln -sfn /etc /disk/a; mkdir -p /tmp/x');
    await expect(stat('/etc/b')).rejects.toThrow('ENOENT');
  });

  test('are gone with the pod, and what they were bound to is not', async () => {
    await removeCriPod(cri, running, signal);
    await manager.unmountPod('u1');
    expect(mountsUnder(readMountinfo(), podDir(dirs, 'u1'))).toEqual([]);
    expect((await readdir(podDir(dirs, 'u1'))).sort()).toEqual(['etc-hosts']);
    await manager.unmountPod('u1');
  });

  test('that a crash left half-made are finished by the next sync, and removed', async () => {
    makePodDir(dirs, 'u2');
    const volumesDir = podVolumesDir(dirs, 'u2');
    // Killed after mkdir, before the mount; after the mount, before the content; after the link, before the rename.
    await mkdir(join(volumesDir, 'kubernetes.io~empty-dir/mem'), {recursive: true});
    const secret = join(volumesDir, 'kubernetes.io~secret/key');
    await mkdir(secret, {recursive: true});
    await promisify(execFile)('mount', ['-t', 'tmpfs', 'tmpfs', secret]);
    const cfg = join(volumesDir, 'kubernetes.io~configmap/cfg');
    await mkdir(join(cfg, '..2026_01_01_00_00_00.1'), {recursive: true});
    await symlink('..2026_01_01_00_00_00.1', join(cfg, '..data_tmp'));
    await manager.mountPodVolumes(pod('u2'), sources, signal);
    expect(await readFile(join(secret, 'deep/token'), 'utf8')).toBe('s3cret');
    expect(await readFile(join(cfg, 'a'), 'utf8')).toBe('ONE');
    expect((await readdir(cfg)).filter(name => name.startsWith('..')).length).toBe(2);
    // Killed in the middle of removing: one mount is gone, the other is not.
    await promisify(execFile)('umount', [join(volumesDir, 'kubernetes.io~empty-dir/mem')]);
    await rm(join(volumesDir, 'kubernetes.io~configmap'), {recursive: true});
    await manager.unmountPod('u2');
    expect(mountsUnder(readMountinfo(), podDir(dirs, 'u2'))).toEqual([]);
    await expect(stat(volumesDir)).rejects.toThrow('ENOENT');
  });

  test('that cannot be made are named with the reason, and the others are made', async () => {
    const broken: Pod = {
      ...pod('u3'),
      spec: {
        containers: [{...container, volumeMounts: [...(container.volumeMounts ?? []), {name: 'no', mountPath: '/no'}]}],
        volumes: [{name: 'no', configMap: {name: 'missing'}}, ...volumes],
      },
    };
    makePodDir(dirs, 'u3');
    await expect(manager.mountPodVolumes(broken, sources, signal)).rejects.toThrow(
      'MountVolume.SetUp failed for volume "no" : configmap "missing" not found',
    );
    expect(await readFile(join(podVolumesDir(dirs, 'u3'), 'kubernetes.io~configmap/cfg/a'), 'utf8')).toBe('ONE');
    await manager.unmountPod('u3');
  });

  test('pass mounts on in the direction that a pod asks for, and those are unmounted with them', async () => {
    const mounting: Pod = {
      ...pod('u5'),
      spec: {
        containers: [
          {
            ...container,
            volumeMounts: [
              {name: 'disk', mountPath: '/both', mountPropagation: 'Bidirectional'},
              {name: 'disk', mountPath: '/down', mountPropagation: 'HostToContainer'},
              {name: 'disk', mountPath: '/none'},
            ],
          },
        ],
        volumes,
      },
    };
    const mounts = await manager.containerMounts(
      {
        pod: mounting,
        container: mounting.spec.containers[0]!,
        env: {},
        imageVolumes: new Map(),
        supportsRecursiveReadOnly: false,
        hostsFile: null,
      },
      signal,
    );
    makePodDir(dirs, 'u5');
    await manager.mountPodVolumes(mounting, sources, signal);
    const started = await runCriPod(
      cri,
      {uid: 'u5', command: ['sleep', '1000'], logDirectory: join(runtime.rootDir, 'logs'), mounts, privileged: true},
      signal,
    );
    const script =
      'mkdir /both/inner; mount -t tmpfs tmpfs /both/inner; echo x > /both/inner/x; ls /down/inner /none/inner';
    const {stdout} = await cri.runtime.execSync(started.container, ['sh', '-c', script], 0, signal);
    expect(Buffer.from(stdout).toString()).toBe('/down/inner:\nx\n\n/none/inner:\n');
    const onHost = join(podVolumesDir(dirs, 'u5'), 'kubernetes.io~empty-dir/disk/inner');
    expect(mountsUnder(readMountinfo(), podDir(dirs, 'u5')).map(mount => mount.mountPoint)).toEqual([onHost]);
    await removeCriPod(cri, started, signal);
    await manager.unmountPod('u5');
    expect(mountsUnder(readMountinfo(), podDir(dirs, 'u5'))).toEqual([]);
  });

  test('on the host are checked before each start of a container', async () => {
    const path = join(runtime.rootDir, 'host-file');
    const withHostPath: Pod = {
      ...pod('u4'),
      spec: {
        containers: [{...container, volumeMounts: [{name: 'h', mountPath: '/h'}]}],
        volumes: [{name: 'h', hostPath: {path, type: 'File'}}],
      },
    };
    const input = {
      pod: withHostPath,
      container: withHostPath.spec.containers[0]!,
      env: {},
      imageVolumes: new Map(),
      supportsRecursiveReadOnly: false,
      hostsFile: null,
    };
    await writeFile(path, '');
    await manager.mountPodVolumes(withHostPath, sources, signal);
    expect(await manager.containerMounts(input, signal)).toMatchObject([
      {hostPath: path, containerPath: '/h', readonly: false},
    ]);
    await rename(path, `${path}-gone`);
    await expect(manager.containerMounts(input, signal)).rejects.toMatchObject({
      reason: 'CreateContainerConfigError',
      message: `hostPath type check failed: ${path} is not a file`,
    });
  });
});
