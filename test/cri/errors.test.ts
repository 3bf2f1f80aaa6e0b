import {describe, expect, it, test} from 'vitest';
import {CriError} from '../../src/core/errors.js';
import {codeName, codeNumber, criErrorFrom, isCriCode, isRuntimeLost} from '../../src/cri/errors.js';

describe('an error of a CRI call', () => {
  it("carries the runtime's own words, the call and the endpoint", () => {
    const failure = Object.assign(new Error('5 NOT_FOUND: no such container'), {code: 5, details: 'no such container'});
    const error = criErrorFrom('ContainerStatus', 'unix:///run/x.sock', failure);
    expect(error).toBeInstanceOf(CriError);
    expect(error).toMatchObject({
      rpc: 'ContainerStatus',
      code: 'NOT_FOUND',
      endpoint: 'unix:///run/x.sock',
      message: 'no such container',
      cause: failure,
    });
  });

  it('says in a word why there was no connection', () => {
    const details =
      'No connection established. Last error: connect ECONNREFUSED /run/x.sock (2026-01-02T03:04:05.678Z). ' +
      'Resolution note: ';
    expect(criErrorFrom('Version', 'e', {code: 14, details})).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'no connection: connect ECONNREFUSED /run/x.sock',
    });
  });

  it('of a call that the peer reset is one of a lost runtime, and of one that we cancelled is not', () => {
    expect(criErrorFrom('Version', 'e', {code: 1, details: 'Call cancelled'}).code).toBe('UNAVAILABLE');
    expect(criErrorFrom('Version', 'e', {code: 1, details: 'Cancelled on client'}).code).toBe('CANCELLED');
    expect(criErrorFrom('Version', 'e', {code: 1, details: 'context canceled'}).code).toBe('CANCELLED');
  });

  it('of something else than gRPC is unknown', () => {
    expect(criErrorFrom('Version', 'e', new Error('index out of range: 3'))).toMatchObject({
      code: 'UNKNOWN',
      message: 'index out of range: 3',
    });
  });

  test.for([
    ['UNAVAILABLE', true],
    ['NOT_FOUND', false],
    ['DEADLINE_EXCEEDED', false],
    ['CANCELLED', false],
  ] as const)('%s means that the runtime is lost: %s', ([code, lost]) => {
    expect(isRuntimeLost(new CriError({rpc: 'Version', code, endpoint: 'e', message: ''}))).toBe(lost);
  });

  it('is told by its code, and nothing else has one', () => {
    const error = new CriError({rpc: 'Version', code: 'NOT_FOUND', endpoint: 'e', message: ''});
    expect(isCriCode(error, 'NOT_FOUND')).toBe(true);
    expect(isCriCode(error, 'INTERNAL')).toBe(false);
    expect(isCriCode(Object.assign(new Error(), {code: 'NOT_FOUND'}), 'NOT_FOUND')).toBe(false);
  });
});

test.for([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])('code %i has one name', number => {
  expect(codeNumber(codeName(number))).toBe(number);
});

test.for([0, 17, -1])('code %i is no error that gRPC knows', number => {
  expect(codeName(number)).toBe('UNKNOWN');
});
