// Manifests by URL: one GET, as the kubelet's http source makes it.
// Mirrors kubelet v1.36 pkg/kubelet/config/http.go extractFromURL.
import {MAX_MANIFEST_BYTES} from './text.js';
import type {LoadedManifest} from './types.js';

export function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}

/** The body, or why there is none: any status but 200, an empty body, no connection. Rejects only when `signal` aborts. */
export async function fetchManifest(
  url: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<LoadedManifest> {
  try {
    const response = await fetch(url, {signal, headers, redirect: 'follow'});
    if (response.status !== 200) {
      await response.body?.cancel();
      return {file: url, problem: `answers with status ${response.status} ${response.statusText}`.trimEnd()};
    }
    const bytes = await readLimited(response.body);
    return bytes.length === 0 ? {file: url, problem: 'answers with nothing'} : {file: url, bytes, isFile: false};
  } catch (error) {
    signal.throwIfAborted();
    return {file: url, problem: `cannot be fetched: ${causeOf(error)}`};
  }
}

/** Not more than is needed to see that it is too much. */
async function readLimited(body: Response['body']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (body === null) return new Uint8Array();
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_MANIFEST_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** fetch hides the reason (ECONNREFUSED, a certificate) in the cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
