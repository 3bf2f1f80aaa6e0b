// Asks a server for its health by the gRPC health checking protocol.
// Mirrors kubelet v1.36 pkg/probe/grpc/grpc.go Probe.
import {Client, credentials, Metadata, status, type ServiceError} from '@grpc/grpc-js';
import type {ProbeOutcome} from '../../core/probe/types.js';
import {grpcVerdict} from '../../core/probe/verdict.js';
import {HealthCheckRequest, HealthCheckResponse, HealthCheckResponse_ServingStatus} from '../../cri/gen/grpc-health.js';
import {deadlineSignal, type Clock} from '../../lib/clock.js';
import {onAbort} from '../../lib/on-abort.js';

export interface GrpcCheck {
  /** host:port. */
  readonly address: string;
  /** '' = the server as a whole. */
  readonly service: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** major.minor for the user agent. */
  readonly version: string;
}

/** Makes the call on a connection of its own, without TLS. Rejects only with the signal's reason. */
export async function grpcCheck(check: GrpcCheck, signal: AbortSignal): Promise<ProbeOutcome> {
  const client = new Client(check.address, credentials.createInsecure(), {
    'grpc.primary_user_agent': `kube-probe/${check.version}`,
    'grpc.enable_http_proxy': 0,
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
  });
  const deadline = deadlineSignal(check.clock, check.timeoutMs, signal);
  try {
    return grpcVerdict(servingStatus(await callCheck(client, check.service, deadline.signal)));
  } catch (error) {
    signal.throwIfAborted();
    return {result: 'failure', output: problem(error, check, deadline.timedOut())};
  } finally {
    deadline.dispose();
    client.close();
  }
}

function callCheck(client: Client, service: string, signal: AbortSignal): Promise<HealthCheckResponse | undefined> {
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      (request: HealthCheckRequest) => Buffer.from(HealthCheckRequest.encode(request).finish()),
      (bytes: Buffer) => HealthCheckResponse.decode(bytes),
      {service},
      new Metadata(),
      (error, response) => {
        stopListening();
        if (error === null) resolve(response);
        else reject(error);
      },
    );
    const stopListening = onAbort(signal, () => call.cancel());
    if (signal.aborted) call.cancel();
  });
}

function servingStatus(response: HealthCheckResponse | undefined): string {
  const known = Object.entries(HealthCheckResponse_ServingStatus).find(([, value]) => value === response?.status);
  return known?.[0] ?? String(response?.status);
}

function problem(error: unknown, {address, timeoutMs}: GrpcCheck, timedOut: boolean): string {
  if (timedOut)
    return `timeout: failed to connect service "${address}" within ${timeoutMs / 1000}s: context deadline exceeded`;
  if (!isServiceError(error)) return `error: health rpc probe failed: ${String(error)}`;
  if (error.code === status.UNIMPLEMENTED) {
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.details}`;
  }
  return `error: health rpc probe failed: ${error.details}`;
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error;
}
