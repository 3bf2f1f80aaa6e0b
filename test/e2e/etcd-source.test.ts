// The etcd source on a real etcd: pods come and go with their keys, and an etcd in trouble takes nothing away.
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {AgentEvent} from '../../src/core/events.js';
import type {SourceSnapshot} from '../../src/core/source-mux.js';
import {systemClock} from '../../src/lib/clock.js';
import {etcdSource, type EtcdSourceOptions} from '../../src/sources/etcd/etcd.js';
import {interpretForTests, podYaml} from '../support/manifests.js';
import {noEtcdReason, TestEtcd} from '../support/etcd.js';

describe.skipIf(noEtcdReason !== null)('the etcd source', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await TestEtcd.start();
  });
  afterAll(() => etcd.stop());

  test('delivers what the prefix holds, and then each change', async () => {
    await etcd.put('/a/web', podYaml('web'));
    await etcd.put('/b/other', podYaml('other'));
    await using source = follow({endpoints: [etcd.endpoint], prefix: '/a/'});
    expect(await source.next()).toEqual(['web-node1']);
    await etcd.put('/a/job', podYaml('job'));
    expect(await source.next()).toEqual(['job-node1', 'web-node1']);
    await etcd.delete('/a/web');
    expect(await source.next()).toEqual(['job-node1']);
  });

  test('garbage under a key is reported, and the pod it had stays as it was', async () => {
    await etcd.put('/c/web', podYaml('web'));
    await using source = follow({endpoints: [etcd.endpoint], prefix: '/c/'});
    await source.next();
    await etcd.put('/c/web', '{"kind":');
    expect(await source.next()).toEqual(['web-node1']);
    expect(source.last?.problems).toMatchObject([{position: {file: 'etcd:/c/web'}, severity: 'error'}]);
    await etcd.put('/c/web', podYaml('renamed'));
    expect(await source.next()).toEqual(['renamed-node1']);
  });

  test('an endpoint that does not answer is passed over for the next one', async () => {
    await etcd.put('/d/web', podYaml('web'));
    await using source = follow({endpoints: ['127.0.0.1:1', etcd.endpoint], prefix: '/d/'});
    expect(await source.next()).toEqual(['web-node1']);
  });

  test('an etcd that went away is taken up again where it stopped', async () => {
    const own = await TestEtcd.start();
    try {
      await own.put('/e/web', podYaml('web'));
      await using source = follow({endpoints: [own.endpoint], prefix: '/e/'});
      await source.next();
      await own.kill();
      await source.notice(/is lost/);
      await own.resume();
      await own.put('/e/job', podYaml('job'));
      expect(await source.next()).toEqual(['job-node1', 'web-node1']);
    } finally {
      await own.stop();
    }
  });

  test('a history that was compacted while the connection was lost is read anew', async () => {
    const own = await TestEtcd.start();
    try {
      await own.put('/f/web', podYaml('web'));
      let open = (): void => undefined;
      const gate = new Promise<void>(resolve => (open = resolve));
      let connections = 0;
      const {connectEtcd} = await import('../../src/sources/etcd/etcd-client.js');
      const connect: EtcdSourceOptions['connect'] = async (endpoint, login, clock, signal) => {
        if (connections++ > 0) await gate;
        return connectEtcd(endpoint, login, clock, signal);
      };
      await using source = follow({endpoints: [own.endpoint], prefix: '/f/', connect});
      await source.next();
      await own.kill();
      await own.resume();
      await own.delete('/f/web');
      const revision = await own.put('/f/job', podYaml('job'));
      await own.compact(revision);
      open();
      expect(await source.next()).toEqual(['job-node1']);
    } finally {
      await own.stop();
    }
  });

  test('a user and password are sent, and a wrong one is said', async () => {
    const own = await TestEtcd.start();
    try {
      await own.put('/g/web', podYaml('web'));
      await own.requirePassword('secret');
      const login = (password: string): EtcdSourceOptions['credentials'] => ({user: {name: 'root', password}});
      await using good = follow({endpoints: [own.endpoint], prefix: '/g/', credentials: login('secret')});
      expect(await good.next()).toEqual(['web-node1']);
      await using bad = follow({endpoints: [own.endpoint], prefix: '/g/', credentials: login('wrong')});
      await bad.notice(/authentication failed/);
    } finally {
      await own.stop();
    }
  });
});

interface Follower extends AsyncDisposable {
  /** Names of the next snapshot's pods, sorted. */
  next(): Promise<string[]>;
  readonly last: SourceSnapshot | undefined;
  /** Waits for a reported notice. */
  notice(pattern: RegExp): Promise<void>;
}

function follow(given: Partial<EtcdSourceOptions> & Pick<EtcdSourceOptions, 'endpoints' | 'prefix'>): Follower {
  const controller = new AbortController();
  const notices: string[] = [];
  let wake = (): void => undefined;
  const source = etcdSource({
    credentials: {},
    clock: systemClock,
    interpret: interpretForTests,
    report: (event: AgentEvent) => {
      if (event.kind === 'notice') notices.push(event.message);
      wake();
    },
    signal: controller.signal,
    ...given,
  });
  let last: SourceSnapshot | undefined;
  // Generators run only while someone waits for them, so one next() is always under way.
  let coming = source.next();
  coming.catch(() => undefined);
  return {
    get last() {
      return last;
    },
    async next() {
      last = (await coming).value;
      coming = source.next();
      coming.catch(() => undefined);
      return last.pods.map(({pod}) => pod.metadata.name).sort();
    },
    async notice(pattern) {
      while (!notices.some(message => pattern.test(message))) await new Promise<void>(resolve => (wake = resolve));
    },
    async [Symbol.asyncDispose]() {
      controller.abort();
      await coming.catch(() => undefined);
    },
  };
}
