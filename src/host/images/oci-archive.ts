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

/** The archive. Equal input gives equal bytes. */
export function ociArchive(spec: ImageSpec, arch: string = process.arch): Buffer {
  const layer = tarArchive(spec.entries);
  const layerDescriptor = describe('application/vnd.oci.image.layer.v1.tar', layer);
  const config = json({
    architecture: ARCHITECTURES[arch] ?? arch,
    os: 'linux',
    config: {
      Env: spec.env ?? ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      ...(spec.entrypoint === undefined ? {} : {Entrypoint: spec.entrypoint}),
      ...(spec.cmd === undefined ? {} : {Cmd: spec.cmd}),
      ...(spec.user === undefined ? {} : {User: spec.user}),
      ...(spec.stopSignal === undefined ? {} : {StopSignal: spec.stopSignal}),
    },
    rootfs: {type: 'layers', diff_ids: [layerDescriptor.digest]},
  });
  const configDescriptor = describe('application/vnd.oci.image.config.v1+json', config);
  const manifest = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: configDescriptor,
    layers: [layerDescriptor],
  });
  const manifestDescriptor = describe('application/vnd.oci.image.manifest.v1+json', manifest);
  const annotations = {
    'io.containerd.image.name': spec.reference,
    'org.opencontainers.image.ref.name': spec.reference.slice(spec.reference.lastIndexOf(':') + 1),
  };
  const index = json({schemaVersion: 2, manifests: [{...manifestDescriptor, annotations}]});
  const blob = (descriptor: Descriptor, content: Uint8Array): TarEntry =>
    file(`blobs/sha256/${descriptor.digest.slice('sha256:'.length)}`, content);
  return tarArchive([
    file('oci-layout', json({imageLayoutVersion: '1.0.0'})),
    file('index.json', index),
    {type: 'directory', path: 'blobs', mode: 0o755},
    {type: 'directory', path: 'blobs/sha256', mode: 0o755},
    blob(manifestDescriptor, manifest),
    blob(configDescriptor, config),
    blob(layerDescriptor, layer),
  ]);
}

function file(path: string, content: Uint8Array): TarEntry {
  return {type: 'file', path, mode: 0o644, content};
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function describe(mediaType: string, content: Uint8Array): Descriptor {
  return {
    mediaType,
    digest: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    size: content.length,
  };
}
