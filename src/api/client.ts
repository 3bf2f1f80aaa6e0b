// Asks the agent of a root directory, where one runs, instead of its runtime.
import http from 'node:http';
import type {ObservedPod} from '../agent/agent.js';
import {SOURCE_ANNOTATION} from '../core/cri-config/label-names.js';
import {HostError} from '../core/errors.js';
import type {Pod} from '../core/pod/types.js';
import {deadlineSignal, type Clock} from '../lib/clock.js';
import type {EventObject} from './event-object.js';
import {SOURCES_READY_HEADER} from './pod-routes.js';

export type {EventObject} from './event-object.js';

export interface ApiAddress {
  /** Absolute; apiSocketPath of the root directory. */
  readonly socketPath: string;
  readonly clock: Clock;
  /** How long to wait for an answer to begin and, unless it is a stream, to end. ms. */
  readonly timeoutMs: number;
}

/**
 * Pods as the agent sees them, by namespace and name. null = no agent answers there in time, or it does not know all its pods
 * yet: the runtime knows more. Rejects with HostError for an answer that makes no sense, with the signal's reason on abort.
 */
export async function readPods(address: ApiAddress, signal: AbortSignal): Promise<readonly ObservedPod[] | null> {
  const answer = await get(address, '/pods', signal);
  if (answer === null || answer.status === 503 || answer.headers[SOURCES_READY_HEADER] !== 'true') return null;
  return itemsOf(parsed(answer)).map(item => {
    const source = item.metadata.annotations?.[SOURCE_ANNOTATION] ?? '';
    return {pod: item, status: item.status ?? {}, source};
  });
}

/** All recorded events, oldest first. null and rejections as of readPods. */
export async function readEvents(address: ApiAddress, signal: AbortSignal): Promise<readonly EventObject[] | null> {
  const answer = await get(address, '/events?follow=false', signal);
  return answer === null ? null : linesOf(mustBeOk(answer).body).map(parseEvent);
}

/**
 * Recorded events, oldest first, then those that come. Ends when the agent stops; null when none answers there. The
 * iteration rejects with HostError when the agent drops a reader that is too slow, and with the signal's reason on abort.
 */
export async function followEvents(
  address: ApiAddress,
  signal: AbortSignal,
): Promise<AsyncIterable<EventObject> | null> {
  const response = await send(address, '/events', signal);
  return response === null ? null : streamedEvents(response, signal);
}

async function* streamedEvents(response: http.IncomingMessage, signal: AbortSignal): AsyncGenerator<EventObject> {
  response.setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of response as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const value: unknown = parseJson(line);
        if (isStatus(value)) {
          if (value.code === 503) return;
          throw new HostError(value.message);
        }
        yield asEvent(value);
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    // The agent was killed: for a reader that is the end like any other.
    if (error instanceof HostError || !isBroken(error)) throw error;
  } finally {
    response.destroy();
  }
}

interface Received {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** null = nobody answers, or not in time. */
async function get(address: ApiAddress, path: string, signal: AbortSignal): Promise<Received | null> {
  const deadline = deadlineSignal(address.clock, address.timeoutMs, signal);
  try {
    const response = await request(address.socketPath, path, deadline.signal);
    let body = '';
    response.setEncoding('utf8');
    for await (const chunk of response as AsyncIterable<string>) body += chunk;
    return {status: response.statusCode ?? 0, headers: response.headers, body};
  } catch (error) {
    return nobodyThere(error, deadline.timedOut(), signal);
  } finally {
    deadline.dispose();
  }
}

/** The beginning of an answer; null = nobody answers, or not in time. */
async function send(address: ApiAddress, path: string, signal: AbortSignal): Promise<http.IncomingMessage | null> {
  const deadline = deadlineSignal(address.clock, address.timeoutMs);
  try {
    return await request(address.socketPath, path, AbortSignal.any([signal, deadline.signal]));
  } catch (error) {
    return nobodyThere(error, deadline.timedOut(), signal);
  } finally {
    deadline.dispose();
  }
}

function request(socketPath: string, path: string, signal: AbortSignal): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    http.get({socketPath, path, agent: false, signal}, resolve).once('error', reject);
  });
}

function nobodyThere(error: unknown, timedOut: boolean, signal: AbortSignal): null {
  signal.throwIfAborted();
  if (timedOut || isBroken(error)) return null;
  throw error;
}

/** No socket, nobody behind it, not for us, or gone while it spoke. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}

function parsed(answer: Received): unknown {
  return parseJson(mustBeOk(answer).body);
}

function mustBeOk(answer: Received): Received {
  if (answer.status === 200) return answer;
  throw new HostError(`the agent answered ${answer.status}: ${answer.body.trim()}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HostError('the agent answered with something else than JSON', {cause: error});
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter(line => line !== '');
}

function parseEvent(line: string): EventObject {
  return asEvent(parseJson(line));
}

function asEvent(value: unknown): EventObject {
  if (isObject(value) && value['kind'] === 'Event') return value as unknown as EventObject;
  throw new HostError('the agent answered with something else than events');
}

function itemsOf(value: unknown): readonly Pod[] {
  if (isObject(value) && value['kind'] === 'PodList' && Array.isArray(value['items'])) return value['items'] as Pod[];
  throw new HostError('the agent answered with something else than a list of pods');
}

function isStatus(value: unknown): value is {readonly code: number; readonly message: string} {
  return isObject(value) && value['kind'] === 'Status';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
