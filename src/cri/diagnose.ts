// Why a socket gave no runtime: looks at the socket itself, since gRPC says little more than that there was no answer.
import {stat} from 'node:fs/promises';
import {connect} from 'node:net';
import {CriError, RuntimeUnavailableError} from '../core/errors.js';
import {codeOf} from '../lib/error-code.js';
import {socketPath, type Candidate} from './endpoints.js';

/** What was found out about a socket that gave no runtime. */
export interface SocketFacts {
  /** errno of looking at the path; null = it is there. */
  readonly statError: string | null;
  readonly isSocket: boolean;
  /** errno of connecting; null = somebody accepts. */
  readonly connectError: string | null;
  /** How long was waited for an answer, ms; null = there was one. */
  readonly waitedMs: number | null;
  /** What the Version call failed with. */
  readonly failure: CriError | null;
}

/** Makes the error for an endpoint whose Version call failed with `failure`. */
export async function diagnose(
  candidate: Candidate,
  failure: unknown,
  waitedMs: number | null,
): Promise<RuntimeUnavailableError> {
  const path = socketPath(candidate.endpoint);
  const found = await stat(path).then(
    stats => ({statError: null, isSocket: stats.isSocket()}),
    (error: unknown) => ({statError: codeOf(error) ?? 'UNKNOWN', isSocket: false}),
  );
  const facts = {
    ...found,
    connectError: found.isSocket ? await connectError(path) : null,
    waitedMs,
    failure: failure instanceof CriError ? failure : null,
  };
  const {message, hint} = explain(candidate.endpoint, facts);
  return new RuntimeUnavailableError(`${message} (endpoint from ${candidate.configuredBy})`, {
    ...candidate,
    hint,
    cause: failure,
  });
}

/** What is wrong and what to do about it. */
export function explain(endpoint: string, facts: SocketFacts): {readonly message: string; readonly hint: string} {
  const trouble = facts.statError ?? facts.connectError;
  if (trouble === 'EACCES' || trouble === 'EPERM') {
    return {message: `permission denied on ${endpoint}`, hint: 'try: sudo, or set CONTAINER_RUNTIME_ENDPOINT'};
  }
  if (trouble === 'ENOENT' || trouble === 'ENOTDIR') {
    return {
      message: `no socket at ${endpoint}`,
      hint: 'start the runtime there, or name another with --runtime-endpoint or CONTAINER_RUNTIME_ENDPOINT',
    };
  }
  if (facts.statError === null && !facts.isSocket) {
    return {message: `${endpoint} is not a socket`, hint: 'name the socket of a container runtime'};
  }
  if (trouble === 'ECONNREFUSED') {
    return {
      message: `connection refused by ${endpoint}: the socket is there, but nobody listens`,
      hint: 'the runtime has ended and left its socket behind: start it again, e.g. systemctl restart containerd',
    };
  }
  if (trouble !== null) return {message: `cannot connect to ${endpoint}: ${trouble}`, hint: 'is the runtime running?'};
  return explainAnswer(endpoint, facts);
}

/** Somebody listens, but did not answer as a CRI v1 runtime does. */
function explainAnswer(endpoint: string, facts: SocketFacts): {readonly message: string; readonly hint: string} {
  const {failure, waitedMs} = facts;
  if (waitedMs !== null) {
    return {
      message: `no answer from ${endpoint} within ${waitedMs / 1000}s`,
      hint: 'the runtime hangs or is still starting: look into its log, or name another socket',
    };
  }
  if (failure?.code === 'UNIMPLEMENTED') {
    return {
      message: `${endpoint} does not serve CRI v1: ${failure.message}`,
      hint:
        'containerd: take "cri" out of disabled_plugins in /etc/containerd/config.toml and restart it; ' +
        'a runtime that only knows CRI v1alpha2 is too old',
    };
  }
  const detail = failure === null ? '' : `: ${failure.message}`;
  return {
    message: `${endpoint} does not speak gRPC${detail}`,
    hint: 'name the socket of a container runtime, not of another program (the Docker socket is not one)',
  };
}

async function connectError(path: string): Promise<string | null> {
  return new Promise(resolve => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(null);
    });
    socket.once('error', error => resolve(codeOf(error) ?? 'UNKNOWN'));
  });
}
