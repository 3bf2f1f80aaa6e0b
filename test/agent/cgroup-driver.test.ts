import {expect, test} from 'vitest';
import {cgroupDriverOf} from '../../src/agent/cgroup-driver.js';
import {CriError, type CriCode} from '../../src/core/errors.js';
import {RuntimeConfigResponse, StatusResponse} from '../../src/cri/gen/cri.js';

const {signal} = new AbortController();

const failure = (code: CriCode): CriError =>
  new CriError({rpc: 'RuntimeConfig', code, endpoint: 'unix:///run/cri.sock', message: 'no'});

/** A runtime that answers RuntimeConfig so; `null` = it must not be asked. */
const runtime = (answer: {readonly linux?: {readonly cgroupDriver: number}} | CriError | null) => ({
  runtimeConfig: (): Promise<RuntimeConfigResponse> => {
    if (answer === null) throw new Error('asked for what its status tells');
    return answer instanceof CriError
      ? Promise.reject(answer)
      : Promise.resolve(RuntimeConfigResponse.fromPartial(answer as never));
  },
});

const containerd = (systemd: boolean): StatusResponse => {
  const runtimes = {runc: {options: {SystemdCgroup: systemd}}, other: {options: {SystemdCgroup: !systemd}}};
  const config = {cni: {confDir: '/etc/cni/net.d'}, containerd: {defaultRuntimeName: 'runc', runtimes}};
  return StatusResponse.fromPartial({info: {config: JSON.stringify(config)}});
};
const silent = StatusResponse.fromPartial({});

test.each([
  ['containerd tells in its status', containerd(true), null, 'systemd'],
  ['of its default runtime', containerd(false), null, 'cgroupfs'],
  ['others are asked: systemd', silent, {linux: {cgroupDriver: 0}}, 'systemd'],
  ['others are asked: cgroupfs', silent, {linux: {cgroupDriver: 1}}, 'cgroupfs'],
  ['an old one cannot say', silent, failure('UNIMPLEMENTED'), 'cgroupfs'],
  ['one without a status is asked', failure('UNKNOWN'), {linux: {cgroupDriver: 0}}, 'systemd'],
] as const)('%s', async (_name, status, answer, driver) => {
  await expect(cgroupDriverOf(runtime(answer), status, signal)).resolves.toBe(driver);
});

test.each([
  ['it fails', silent, 'UNAVAILABLE', 'UNAVAILABLE'],
  ['nothing can be known', failure('UNKNOWN'), 'UNIMPLEMENTED', 'UNKNOWN'],
] as const)('rejects when %s', async (_name, status, answer, code) => {
  await expect(cgroupDriverOf(runtime(failure(answer)), status, signal)).rejects.toMatchObject({code});
});
