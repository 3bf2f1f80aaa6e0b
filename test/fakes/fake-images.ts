// The fake runtime's image store. References are read as containerd reads them: a short name means Docker Hub.
import {createHash} from 'node:crypto';
import type {Image} from '../../src/cri/gen/cri.js';

export interface FakeImageOptions {
  readonly sizeBytes?: number;
  /** The image's user: a number, or a name (runAsNonRoot cannot judge a name). */
  readonly uid?: number;
  readonly username?: string;
  readonly pinned?: boolean;
}

export class FakeImages {
  readonly #images = new Map<string, Image>();

  /** Puts an image into the store, as a pull would. Returns its id. */
  add(reference: string, options: FakeImageOptions = {}): string {
    const name = normalizeReference(reference);
    const repository = name.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
    const digest = /@(sha256:[0-9a-f]{64})$/.exec(name)?.[1] ?? sha256(`manifest of ${name}`);
    const id = sha256(`config of ${digest}`);
    const before = this.#images.get(id);
    const tags = name.includes('@') ? [] : [name];
    this.#images.set(id, {
      id,
      repoTags: [...new Set([...(before?.repoTags ?? []), ...tags])],
      repoDigests: [`${repository}@${digest}`],
      size: BigInt(options.sizeBytes ?? 1_000_000),
      uid: options.uid === undefined ? undefined : {value: BigInt(options.uid)},
      username: options.username ?? '',
      spec: undefined,
      pinned: options.pinned ?? false,
    });
    return id;
  }

  /** By tag, digest reference, image id, or the hex part of an id. */
  find(reference: string): Image | undefined {
    const byId = this.#images.get(reference) ?? this.#images.get(`sha256:${reference}`);
    if (byId !== undefined) return byId;
    const name = normalizeReference(reference);
    return this.list().find(image => image.repoTags.includes(name) || image.repoDigests.includes(name));
  }

  remove(reference: string): void {
    const image = this.find(reference);
    if (image !== undefined) this.#images.delete(image.id);
  }

  list(): readonly Image[] {
    return [...this.#images.values()];
  }
}

/** Whether containerd could parse it. */
export function isReference(reference: string): boolean {
  return /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/.test(reference);
}

/** `busybox` means `docker.io/library/busybox:latest`; a digest makes the tag meaningless. */
function normalizeReference(reference: string): string {
  const [beforeDigest = '', digest] = reference.split('@');
  const slash = beforeDigest.indexOf('/');
  const host = slash === -1 ? '' : beforeDigest.slice(0, slash);
  const hasHost = host.includes('.') || host.includes(':') || host === 'localhost';
  const domain = hasHost ? host : 'docker.io';
  const rest = hasHost ? beforeDigest.slice(slash + 1) : beforeDigest;
  const path = domain === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest;
  const colon = path.lastIndexOf(':');
  const [name, tag] = colon === -1 ? [path, undefined] : [path.slice(0, colon), path.slice(colon + 1)];
  return digest === undefined ? `${domain}/${name}:${tag ?? 'latest'}` : `${domain}/${name}@${digest}`;
}

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
