// The two images that need no registry: the pause image that holds a pod's namespaces, and the demo's busybox. Both are made
// from the host's statically linked busybox.
import {readFile} from 'node:fs/promises';
import {HostError} from '../../core/errors.js';
import {findExecutable, mustRun} from '../run-command.js';
import {ociArchive, type ImageSpec} from './oci-archive.js';
import type {TarEntry} from './tar.js';

/** The tag counts changes of the image's content. */
export const PAUSE_IMAGE = 'minikubelet.dev/pause:1';
export const DEMO_IMAGE = 'docker.io/library/busybox:1.36';

export interface Busybox {
  readonly binary: Uint8Array;
  /** Names it answers to, e.g. sh, sleep. */
  readonly applets: readonly string[];
}

/** The host's busybox. Rejects with HostError when there is none or it needs shared libraries. */
export async function readBusybox(): Promise<Busybox> {
  const hint = 'apt-get install busybox-static';
  const path = findExecutable('busybox');
  if (path === null) throw new HostError('there is no busybox on this host to build an image from', {hint});
  const binary = await readFile(path);
  if (!isStaticElf(binary))
    throw new HostError(`${path} is not statically linked, so no image can be built from it`, {hint});
  const applets = (await mustRun(path, ['--list'])).split('\n').filter(name => name !== '' && name !== 'busybox');
  return {binary, applets};
}

/**
 * pid 1 of a pod. The shell waits for its own sleep, and so reaps whatever else becomes its child; a trapped signal ends the
 * wait, and the pod, at once.
 */
const PAUSE_SCRIPT = "trap 'exit 0' TERM INT; while :; do sleep 2147483647 & wait $!; done";

/** Image archive of the pause container. */
export function pauseImage(busybox: Busybox, reference = PAUSE_IMAGE): Buffer {
  return ociArchive({
    reference,
    entries: [
      {type: 'directory', path: 'bin', mode: 0o755},
      {type: 'file', path: 'bin/busybox', mode: 0o755, content: busybox.binary},
    ],
    entrypoint: ['/bin/busybox', 'sh', '-c', PAUSE_SCRIPT],
  });
}

/** Image archive of a busybox userland. */
export function busyboxImage(busybox: Busybox, reference = DEMO_IMAGE, user?: string): Buffer {
  return ociArchive(busyboxSpec(busybox, reference, user));
}

/** A busybox userland, laid out as the public busybox image. */
export function busyboxSpec(busybox: Busybox, reference: string, user?: string): ImageSpec {
  const text = (path: string, content: string): TarEntry => ({
    type: 'file',
    path,
    mode: 0o644,
    content: Buffer.from(content),
  });
  const directory = (path: string, mode = 0o755): TarEntry => ({type: 'directory', path, mode});
  return {
    reference,
    entries: [
      directory('bin'),
      {type: 'file', path: 'bin/busybox', mode: 0o755, content: busybox.binary},
      ...busybox.applets.map((applet): TarEntry => ({type: 'symlink', path: `bin/${applet}`, target: 'busybox'})),
      directory('dev'),
      directory('etc'),
      text('etc/group', 'root:x:0:\ndaemon:x:1:\nusers:x:100:\nnogroup:x:65534:\n'),
      text('etc/nsswitch.conf', 'passwd: files\nhosts: files dns\n'),
      text(
        'etc/passwd',
        'root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/bin/false\nnobody:x:65534:65534:nobody:/home:/bin/false\n',
      ),
      directory('home'),
      directory('root', 0o700),
      directory('tmp', 0o1777),
      directory('usr'),
      directory('usr/bin'),
      {type: 'symlink', path: 'usr/bin/env', target: '../../bin/env'},
      directory('var'),
      directory('var/www'),
    ],
    cmd: ['sh'],
    ...(user === undefined ? {} : {user}),
  };
}

/** An ELF file without a program header of type PT_INTERP asks for no loader and hence no shared libraries. */
export function isStaticElf(binary: Uint8Array): boolean {
  const view = Buffer.from(binary.buffer, binary.byteOffset, binary.byteLength);
  if (view.length < 64 || view.readUInt32BE(0) !== 0x7f454c46) return false;
  const is64 = view[4] === 2;
  const little = view[5] === 1;
  const u16 = (at: number): number => (little ? view.readUInt16LE(at) : view.readUInt16BE(at));
  const u32 = (at: number): number => (little ? view.readUInt32LE(at) : view.readUInt32BE(at));
  const u64 = (at: number): number => Number(little ? view.readBigUInt64LE(at) : view.readBigUInt64BE(at));
  const start = is64 ? u64(32) : u32(28);
  const size = u16(is64 ? 54 : 42);
  const count = u16(is64 ? 56 : 44);
  const PT_INTERP = 3;
  for (let index = 0; index < count; index++) {
    const at = start + index * size;
    if (at + 4 <= view.length && u32(at) === PT_INTERP) return false;
  }
  return true;
}
