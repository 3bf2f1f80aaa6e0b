// What an answer means for a probe.
// Mirrors kubelet v1.36 pkg/probe/{http,exec,grpc} Do*Probe and pkg/kubelet/prober/prober.go probe.
import type {EventReason} from '../reasons.js';
import type {ProbeOutcome, ProbeType} from './types.js';

/** 200 to 399 is success; anything from 300 on also a reason to look. */
export function httpVerdict({status, body}: {readonly status: number; readonly body: string}): ProbeOutcome {
  if (status >= 200 && status < 300) return {result: 'success', output: body};
  if (status >= 300 && status < 400) {
    return {result: 'warning', output: `Probe terminated redirects, Response body: ${body}`};
  }
  return {result: 'failure', output: `HTTP probe failed with statuscode: ${status}`};
}

/** Of a command's output this much is kept. */
export const MAX_EXEC_OUTPUT_BYTES = 10 * 1024;

/** `output`: stdout, then stderr. */
export function execVerdict(exitCode: number, output: Uint8Array): ProbeOutcome {
  const text = new TextDecoder().decode(output.subarray(0, MAX_EXEC_OUTPUT_BYTES));
  return {result: exitCode === 0 ? 'success' : 'failure', output: text};
}

/** `status`: name of the serving status, e.g. SERVING. */
export function grpcVerdict(status: string): ProbeOutcome {
  if (status === 'SERVING') return {result: 'success', output: 'service healthy'};
  return {result: 'failure', output: `service unhealthy (responded with "${status}")`};
}

/** What the worker counts; null = the check was not made, nothing is counted. */
export function countedResult({result}: ProbeOutcome): 'success' | 'failure' | null {
  switch (result) {
    case 'success':
    case 'warning':
      return 'success';
    case 'failure':
    case 'unknown':
      return 'failure';
    case 'error':
      return null;
  }
}

export interface ProbeEvent {
  readonly reason: EventReason & ('Unhealthy' | 'ProbeWarning');
  readonly message: string;
}

/** The event that a check is worth; null = none. */
export function probeEvent(probeType: ProbeType, outcome: ProbeOutcome): ProbeEvent | null {
  const probe = `${PROBE_WORD[probeType]} probe`;
  switch (outcome.result) {
    case 'success':
      return null;
    case 'warning':
      return {reason: 'ProbeWarning', message: `${probe} warning: ${outcome.output}`};
    case 'failure':
    case 'unknown':
      return {reason: 'Unhealthy', message: `${probe} failed: ${outcome.output}`};
    case 'error':
      return {reason: 'Unhealthy', message: `${probe} errored and resulted in unknown state: ${outcome.output}`};
  }
}

const PROBE_WORD: Record<ProbeType, string> = {liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup'};
