// Pushes an image to a registry over its HTTP API, so that tests can fill one without docker or a network.
// Protocol: https://github.com/opencontainers/distribution-spec (blob upload, manifest put).
import {ociImage, type ImageSpec, type OciBlob} from '../../src/host/images/oci-archive.js';

export interface PushTarget {
  /** e.g. http://127.0.0.1:5000 */
  readonly url: string;
  readonly login?: {readonly username: string; readonly password: string};
}

/** Puts the image into `repository` under `tag`; answers the manifest's digest. Rejects with what the registry answered. */
export async function pushImage(
  target: PushTarget,
  repository: string,
  tag: string,
  spec: Omit<ImageSpec, 'reference'>,
): Promise<string> {
  const {manifest, config, layer} = ociImage({...spec, reference: `${repository}:${tag}`});
  const base = `${target.url}/v2/${repository}`;
  for (const blob of [layer, config]) await pushBlob(target, base, blob);
  const {mediaType, digest} = manifest.descriptor;
  await request(target, 'PUT', `${base}/manifests/${tag}`, {mediaType, content: manifest.content});
  return digest;
}

async function pushBlob(target: PushTarget, base: string, {descriptor, content}: OciBlob): Promise<void> {
  const begun = await request(target, 'POST', `${base}/blobs/uploads/`);
  const location = begun.headers.get('location');
  if (location === null) throw new Error('the registry did not say where to upload to');
  const upload = new URL(location, target.url);
  upload.searchParams.set('digest', descriptor.digest);
  await request(target, 'PUT', upload.href, {mediaType: 'application/octet-stream', content});
}

async function request(
  {login}: PushTarget,
  method: string,
  url: string,
  body?: {readonly mediaType: string; readonly content: Uint8Array},
): Promise<Response> {
  const answer = await fetch(url, {
    method,
    headers: {
      ...(body !== undefined && {'Content-Type': body.mediaType}),
      ...(login !== undefined && {Authorization: `Basic ${btoa(`${login.username}:${login.password}`)}`}),
    },
    ...(body !== undefined && {body: Buffer.from(body.content)}),
  });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return answer;
}
