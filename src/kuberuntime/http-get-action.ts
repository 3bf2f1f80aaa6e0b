// Carries out the request of an httpGet probe or lifecycle hook, redirects on the same host included.
// Mirrors kubelet v1.36 pkg/probe/http/http.go DoHTTPProbe's client.
import type {HttpGetRequest} from '../core/probe/http-request.js';
import {redirectOf} from '../core/probe/redirect.js';
import {httpGet, type HttpAnswer} from '../lib/http-get.js';

export interface HttpGetOutcome extends HttpAnswer {
  /** How many requests were made. */
  readonly requests: number;
}

/** Bodies are for messages: more of one is not read. */
const MAX_BODY_BYTES = 10 * 1024;

/**
 * The last answer. Rejects with the signal's reason when it aborts (the caller's deadline spans all requests), with
 * HttpBodyError, or with the error of a connection or redirect.
 */
export async function runHttpGet(request: HttpGetRequest, signal: AbortSignal): Promise<HttpGetOutcome> {
  const requests = [request];
  for (let current = request; ;) {
    const answer = await httpGet(current, MAX_BODY_BYTES, signal);
    const redirect = redirectOf(requests, answer);
    if (redirect.kind === 'none') return {...answer, requests: requests.length};
    if (redirect.kind === 'error') throw new Error(redirect.message);
    current = redirect.request;
    requests.push(current);
  }
}
