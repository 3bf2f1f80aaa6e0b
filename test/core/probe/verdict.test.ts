import {describe, expect, test} from 'vitest';
import {
  countedResult,
  execVerdict,
  grpcVerdict,
  httpVerdict,
  MAX_EXEC_OUTPUT_BYTES,
  probeEvent,
} from '../../../src/core/probe/verdict.js';

describe('a status code', () => {
  test.for([
    [199, 'failure'],
    [200, 'success'],
    [299, 'success'],
    [300, 'warning'],
    [399, 'warning'],
    [400, 'failure'],
    [503, 'failure'],
  ] as const)('%i is %s', ([status, result]) => {
    expect(httpVerdict({status, body: 'body'}).result).toBe(result);
  });
});

test('a command passes with 0 and shows no more than 10 KiB', () => {
  expect(execVerdict(0, new TextEncoder().encode('fine'))).toEqual({result: 'success', output: 'fine'});
  const long = execVerdict(1, new Uint8Array(MAX_EXEC_OUTPUT_BYTES + 1).fill(120));
  expect(long.result).toBe('failure');
  expect(long.output).toHaveLength(MAX_EXEC_OUTPUT_BYTES);
});

test('a gRPC server is healthy only when it serves', () => {
  expect(grpcVerdict('SERVING').result).toBe('success');
  expect(grpcVerdict('NOT_SERVING')).toEqual({
    result: 'failure',
    output: 'service unhealthy (responded with "NOT_SERVING")',
  });
});

test.for([
  ['success', 'success', null],
  ['warning', 'success', {reason: 'ProbeWarning', message: 'Readiness probe warning: text'}],
  ['failure', 'failure', {reason: 'Unhealthy', message: 'Readiness probe failed: text'}],
  ['unknown', 'failure', {reason: 'Unhealthy', message: 'Readiness probe failed: text'}],
  ['error', null, {reason: 'Unhealthy', message: 'Readiness probe errored and resulted in unknown state: text'}],
] as const)('%s counts as %s', ([result, counted, event]) => {
  expect(countedResult({result, output: 'text'})).toBe(counted);
  expect(probeEvent('readiness', {result, output: 'text'})).toEqual(event);
});
