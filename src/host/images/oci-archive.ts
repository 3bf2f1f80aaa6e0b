// Builds a one-layer image as an OCI image layout in a tar archive, as `ctr images import` and `docker load` read it.
// Format: https://github.com/opencontainers/image-spec (image-layout, manifest, config).
import {createHash} from 'node:crypto';
import {tarArchive, type TarEntry} from './tar.js';

export interface ImageSpec {
  /** Full reference, e.g. docker.io/library/busybox:1.36. */
  readonly reference: string;
  readonly entries: readonly TarEntry[];
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  readonly env?: readonly string[];
  /** e.g. "1000:1000" or a name of the image's /etc/passwd. */
  readonly user?: string;
  readonly stopSignal?: string;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Node's name of a CPU to the image world's; both agree on what is not listed. */
const ARCHITECTURES: Readonly<Record<string, string>> = {x64: 'amd64', ia32: '386', ppc64: 'ppc64le', mipsel: 'mipsle'};

/** Something that the manifest names by its digest, or the manifest itself. */
export interface OciBlob {
  readonly descriptor: Descriptor;
  readonly content: Uint8Array;
}

export interface OciImage {
  readonly manifest: OciBlob;
  readonly config: OciBlob;
  readonly layer: OciBlob;
}

/** The three parts of the image, as a registry keeps them. Equal input gives equal bytes. */
export function ociImage(spec: ImageSpec, arch: string = process.arch): OciImage {
  const layer = blob('application/vnd.oci.image.layer.v1.tar', tarArchive(spec.entries));
  const config = blob(
    'application/vnd.oci.image.config.v1+json',
    json({
      architecture: ARCHITECTURES[arch] ?? arch,
      os: 'linux',
      config: {
        Env: spec.env ?? ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
        ...(spec.entrypoint === undefined ? {} : {Entrypoint: spec.entrypoint}),
        ...(spec.cmd === undefined ? {} : {Cmd: spec.cmd}),
        ...(spec.user === undefined ? {} : {User: spec.user}),
        ...(spec.stopSignal === undefined ? {} : {StopSignal: spec.stopSignal}),
      },
      rootfs: {type: 'layers', diff_ids: [layer.descriptor.digest]},
    }),
  );
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const content = json({schemaVersion: 2, mediaType, config: config.descriptor, layers: [layer.descriptor]});
  return {manifest: blob(mediaType, content), config, layer};
}

/** The archive. Equal input gives equal bytes. */
export function ociArchive(spec: ImageSpec, arch: string = process.arch): Buffer {
  const {manifest, config, layer} = ociImage(spec, arch);
  const annotations = {
    'io.containerd.image.name': spec.reference,
    'org.opencontainers.image.ref.name': spec.reference.slice(spec.reference.lastIndexOf(':') + 1),
  };
  const index = json({schemaVersion: 2, manifests: [{...manifest.descriptor, annotations}]});
  return tarArchive([
    file('oci-layout', json({imageLayoutVersion: '1.0.0'})),
    file('index.json', index),
    {type: 'directory', path: 'blobs', mode: 0o755},
    {type: 'directory', path: 'blobs/sha256', mode: 0o755},
    ...[manifest, config, layer].map(({descriptor, content}) =>
      file(`blobs/sha256/${descriptor.digest.slice('sha256:'.length)}`, content),
    ),
  ]);
}

function file(path: string, content: Uint8Array): TarEntry {
  return {type: 'file', path, mode: 0o644, content};
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function blob(mediaType: string, content: Uint8Array): OciBlob {
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  return {descriptor: {mediaType, digest, size: content.length}, content};
}
