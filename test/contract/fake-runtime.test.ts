// The contract on the fake runtime: directly, and through the gRPC client and a server around it.
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe} from 'vitest';
import {GrpcImageService, GrpcRuntimeService} from '../../src/cri/grpc-runtime-service.js';
import {startCriServer} from '../fakes/cri-server.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {runtimeSpecs} from './runtime-specs.js';
import {IMAGE, passTime, teach, type Subject} from './subject.js';

function fake(events: 'tasks' | 'cri'): {clock: FakeClock; runtime: FakeRuntime} {
  const clock = new FakeClock();
  const runtime = new FakeRuntime({clock, images: [IMAGE], events, exitLagMs: 140});
  teach(runtime);
  return {clock, runtime};
}

describe('the fake runtime', () => {
  runtimeSpecs(() => {
    const {clock, runtime} = fake('tasks');
    return Promise.resolve<Subject>({
      runtime,
      images: runtime,
      logDirectory: '/var/log/pods',
      during: work => passTime(clock, work),
      stopOfUnknown: 'NOT_FOUND',
      tellsOOM: true,
      close: () => Promise.resolve(),
    });
  });
});

describe.for(['containerd', 'cri'] as const)('the gRPC client, with %s events', events => {
  runtimeSpecs(async (): Promise<Subject> => {
    const {clock, runtime} = fake(events === 'cri' ? 'cri' : 'tasks');
    const dir = await mkdtemp(join(tmpdir(), 'cri-'));
    const server = await startCriServer(runtime, {socket: join(dir, 's'), events});
    const client = new GrpcRuntimeService(server.endpoint);
    const images = new GrpcImageService(server.endpoint);
    return {
      runtime: client,
      images,
      logDirectory: '/var/log/pods',
      during: work => passTime(clock, work),
      stopOfUnknown: 'NOT_FOUND',
      tellsOOM: events === 'containerd',
      close: async () => {
        client.close();
        images.close();
        server.close();
        await rm(dir, {recursive: true});
      },
    };
  });
});
