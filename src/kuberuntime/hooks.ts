// Runs a lifecycle hook: a command in the container, an HTTP request, or a sleep.
// Mirrors kubelet v1.36 pkg/kubelet/lifecycle/handlers.go.
import type {AnyContainer} from '../core/cri-config/types.js';
import {goQuote} from '../core/go-text.js';
import {KUBELET_VERSION} from '../core/kubelet-version.js';
import {httpGetRequest, joinHostPort} from '../core/probe/http-request.js';
import {formatPod, type HTTPGetAction, type LifecycleHandler, type Pod} from '../core/pod/types.js';
import {criContainerId, type ContainerId} from '../core/runtime-status/types.js';
import type {RuntimeService} from '../cri/runtime-service.js';
import type {Clock} from '../lib/clock.js';
import {isPlainHttpAnswer} from '../lib/http-get.js';
import {errorText, expectedFailure} from './failures.js';
import {runHttpGet} from './http-get-action.js';
import type {PodReporter} from './pod-reporter.js';

export interface HookDeps {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
}

export interface Hook {
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly id: ContainerId;
  readonly handler: LifecycleHandler;
  /** Addresses of the pod, asked only by an httpGet hook without host. */
  readonly podIPs: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly reporter: PodReporter;
}

/**
 * Runs a hook to its end: it has no timeout but the signal. Rejects with an Error whose message the kubelet would show,
 * or with the signal's reason. A tcpSocket handler fails, as the API documents.
 */
export async function runHook(deps: HookDeps, hook: Hook, signal: AbortSignal): Promise<void> {
  const {exec, httpGet, sleep} = hook.handler;
  const target = `for Container "${hook.container.name}" in Pod "${formatPod(hook.pod)}" failed - error: `;
  if (exec !== undefined) return runExecHook(deps, hook, target, signal);
  if (httpGet !== undefined) {
    const label = `HTTP lifecycle hook (${httpGet.path ?? ''}) ${target}`;
    return failingWith(label, signal, () => runHttpHook(hook, httpGet, signal));
  }
  if (sleep !== undefined) return deps.clock.sleep(sleep.seconds * 1000, signal);
  throw new Error(`Cannot run handler: invalid handler: ${JSON.stringify(hook.handler)}`);
}

/** The words of a hook for a progress line, e.g. `exec sh -c true`. */
export function describeHook({exec, httpGet, sleep, tcpSocket}: LifecycleHandler): string {
  if (exec !== undefined) return `exec ${(exec.command ?? []).join(' ')}`;
  if (httpGet !== undefined) return `httpGet ${httpGet.path ?? '/'}`;
  if (sleep !== undefined) return `sleep ${sleep.seconds}s`;
  return tcpSocket === undefined ? 'nothing' : `tcpSocket ${tcpSocket.port}`;
}

async function runExecHook(deps: HookDeps, hook: Hook, target: string, signal: AbortSignal): Promise<void> {
  const command = hook.handler.exec?.command ?? [];
  const label = `Exec lifecycle hook ([${command.join(' ')}]) ${target}`;
  let output = '';
  try {
    const result = await deps.runtime.execSync(criContainerId(hook.id), command, 0, signal);
    if (result.exitCode === 0) return;
    const decoder = new TextDecoder();
    output = decoder.decode(result.stdout) + decoder.decode(result.stderr);
    const stderr = decoder.decode(result.stderr);
    throw new Error(`command '${command.join(' ')}' exited with ${result.exitCode}: ${stderr}`);
  } catch (thrown) {
    const error = expectedFailure(thrown, signal);
    throw new Error(`${label}${errorText(error)}, message: ${goQuote(output)}`, {cause: thrown});
  }
}

async function failingWith(label: string, signal: AbortSignal, effect: () => Promise<void>): Promise<void> {
  try {
    await effect();
  } catch (thrown) {
    const error = expectedFailure(thrown, signal);
    throw new Error(label + errorText(error), {cause: thrown});
  }
}

/** Any answer will do: the status code does not count. */
async function runHttpHook(
  {podIPs, container, reporter}: Hook,
  action: HTTPGetAction,
  signal: AbortSignal,
): Promise<void> {
  const [podIP] = action.host === undefined || action.host === '' ? await podIPs(signal) : [action.host];
  if (podIP === undefined) throw new Error('failed to find networking container: the pod has no address');
  const target = {ports: container.ports, podIP, purpose: 'lifecycle', version: KUBELET_VERSION} as const;
  const request = httpGetRequest(action, target);
  try {
    await runHttpGet(request, signal);
  } catch (error) {
    if (!isPlainHttpAnswer(error)) throw error;
    // The server of an HTTPS hook may speak plain HTTP; credentials are not sent to it then.
    const headers = new Map([...request.headers].filter(([name]) => name !== 'Authorization'));
    await runHttpGet({...request, scheme: 'http', headers}, signal);
    const address = joinHostPort(request.host, request.port);
    const text = `request to HTTPS lifecycle hook ${address} got HTTP response, retry with HTTP succeeded`;
    reporter.recorded('Warning', 'LifecycleHTTPFallback', text);
  }
}
