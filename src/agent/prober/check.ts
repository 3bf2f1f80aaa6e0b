// Makes one check of a probe, from the host: a command in the container, an HTTP request, a TCP connection, a gRPC call.
// Mirrors kubelet v1.36 pkg/kubelet/prober/prober.go runProbe and pkg/probe.
import {CriError} from '../../core/errors.js';
import {expandWithLiterals} from '../../core/pod/expansion.js';
import type {Container, ExecAction, HTTPGetAction, Probe, TCPSocketAction} from '../../core/pod/types.js';
import {httpGetRequest, joinHostPort} from '../../core/probe/http-request.js';
import {ProbeTargetError, resolveContainerPort} from '../../core/probe/ports.js';
import type {ProbeOutcome} from '../../core/probe/types.js';
import {execVerdict, httpVerdict} from '../../core/probe/verdict.js';
import {criContainerId, type ContainerId} from '../../core/runtime-status/types.js';
import type {RuntimeService} from '../../cri/runtime-service.js';
import {runHttpGet} from '../../kuberuntime/http-get-action.js';
import {deadlineSignal, type Clock} from '../../lib/clock.js';
import {HttpBodyError} from '../../lib/http-get.js';
import {tcpConnect} from '../../lib/tcp-connect.js';
import {dialProblem} from './dial-problem.js';

export interface CheckDeps {
  readonly runtime: Pick<RuntimeService, 'execSync'>;
  readonly clock: Clock;
  /** major.minor for the User-Agent. */
  readonly version: string;
}

export interface CheckTarget {
  readonly probe: Probe;
  readonly container: Container;
  readonly containerId: ContainerId;
  /** '' = not known (yet). */
  readonly podIP: string;
}

/** Makes the check. Never rejects but with the signal's reason. */
export async function makeCheck(deps: CheckDeps, target: CheckTarget, signal: AbortSignal): Promise<ProbeOutcome> {
  const {exec, httpGet, tcpSocket, grpc} = target.probe;
  try {
    if (exec !== undefined) return await execCheck(deps, target, exec, signal);
    if (httpGet !== undefined) return await httpCheck(deps, target, httpGet, signal);
    if (tcpSocket !== undefined) return await tcpCheck(deps, target, tcpSocket, signal);
    if (grpc === undefined) return {result: 'error', output: `missing probe handler for ${target.container.name}`};
    // A gRPC library takes 70 ms to load, and few probes need it.
    const {grpcCheck} = await import('./grpc-check.js');
    const address = joinHostPort(target.podIP === '' ? 'localhost' : target.podIP, grpc.port);
    return await grpcCheck({address, service: grpc.service ?? '', ...deps, timeoutMs: timeoutMs(target)}, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProbeTargetError) return {result: 'error', output: error.message};
    throw error;
  }
}

async function execCheck(
  {runtime}: CheckDeps,
  {probe, container, containerId}: CheckTarget,
  {command = []}: ExecAction,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const argv = expandWithLiterals(command, container.env);
  try {
    const {exitCode, stdout, stderr} = await runtime.execSync(
      criContainerId(containerId),
      argv,
      probe.timeoutSeconds ?? 1,
      signal,
    );
    return execVerdict(exitCode, Buffer.concat([stdout, stderr]));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CriError)) throw error;
    // A command that takes too long is a verdict on the container, any other refusal is none.
    return error.code === 'DEADLINE_EXCEEDED'
      ? {result: 'failure', output: `command "${argv.join(' ')}" timed out`}
      : {result: 'error', output: error.message};
  }
}

async function httpCheck(
  {clock, version}: CheckDeps,
  target: CheckTarget,
  action: HTTPGetAction,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const {container, podIP} = target;
  const request = httpGetRequest(action, {ports: container.ports, podIP, purpose: 'probe', version});
  const deadline = deadlineSignal(clock, timeoutMs(target), signal);
  try {
    return httpVerdict(await runHttpGet(request, deadline.signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpBodyError) return {result: 'error', output: error.message};
    const problem = deadline.timedOut()
      ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
      : dialProblem(error);
    return {result: 'failure', output: `Get "${request.url}": ${problem}`};
  } finally {
    deadline.dispose();
  }
}

async function tcpCheck(
  {clock}: CheckDeps,
  target: CheckTarget,
  action: TCPSocketAction,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const port = resolveContainerPort(action.port, target.container.ports);
  const host = action.host === undefined || action.host === '' ? target.podIP : action.host;
  const deadline = deadlineSignal(clock, timeoutMs(target), signal);
  try {
    await tcpConnect(host, port, deadline.signal);
    return {result: 'success', output: ''};
  } catch (error) {
    signal.throwIfAborted();
    const problem = deadline.timedOut() ? `dial tcp ${joinHostPort(host, port)}: i/o timeout` : dialProblem(error);
    return {result: 'failure', output: problem};
  } finally {
    deadline.dispose();
  }
}

function timeoutMs({probe}: CheckTarget): number {
  return (probe.timeoutSeconds ?? 1) * 1000;
}
