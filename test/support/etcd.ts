// A real etcd for tests: its own data directory and ports, driven through its JSON gateway.
import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import net from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';

/** Why no etcd can be had here; null when it can. */
export const noEtcdReason: string | null = existsSync('/usr/bin/etcd') ? null : 'etcd-server is not installed';

export class TestEtcd {
  readonly endpoint: string;
  readonly #dir: string;
  readonly #peer: string;
  #process: ChildProcess | null = null;
  #token: string | null = null;

  private constructor(dir: string, client: number, peer: number) {
    this.#dir = dir;
    this.endpoint = `127.0.0.1:${client}`;
    this.#peer = `http://127.0.0.1:${peer}`;
  }

  static async start(): Promise<TestEtcd> {
    const dir = await mkdtemp(path.join(tmpdir(), 'mk-etcd-'));
    const etcd = new TestEtcd(dir, await freePort(), await freePort());
    await etcd.resume();
    return etcd;
  }

  /** Starts the same store again after `kill`. */
  async resume(): Promise<void> {
    const url = `http://${this.endpoint}`;
    const flags = ['--data-dir', this.#dir, '--listen-client-urls', url, '--advertise-client-urls', url];
    const peers = ['--listen-peer-urls', this.#peer, '--initial-advertise-peer-urls', this.#peer];
    const rest = ['--initial-cluster', `default=${this.#peer}`, '--logger', 'zap', '--log-level', 'error'];
    this.#process = spawn('/usr/bin/etcd', [...flags, ...peers, ...rest, '--unsafe-no-fsync'], {stdio: 'ignore'});
    const deadline = Date.now() + 30_000;
    while (!(await this.#isUp())) {
      if (Date.now() > deadline) throw new Error('etcd did not come up within 30 s');
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#dir, {recursive: true, force: true});
  }

  async put(key: string, value: string): Promise<bigint> {
    const answer = (await this.#post('kv/put', {key: base64(key), value: base64(value)})) as Answer;
    return BigInt(answer.header.revision);
  }

  async delete(key: string): Promise<void> {
    await this.#post('kv/deleterange', {key: base64(key)});
  }

  async compact(revision: bigint): Promise<void> {
    await this.#post('kv/compaction', {revision: revision.toString(), physical: true});
  }

  /** From now on only root with this password is let in. */
  async requirePassword(password: string): Promise<void> {
    await this.#post('auth/role/add', {name: 'root'});
    await this.#post('auth/user/add', {name: 'root', password});
    await this.#post('auth/user/grant', {user: 'root', role: 'root'});
    await this.#post('auth/enable', {});
    const answer = (await this.#post('auth/authenticate', {name: 'root', password})) as {readonly token: string};
    this.#token = answer.token;
  }

  async #isUp(): Promise<boolean> {
    try {
      return (await fetch(`http://${this.endpoint}/health`)).ok;
    } catch {
      return false;
    }
  }

  async #post(method: string, body: object): Promise<unknown> {
    const headers = this.#token === null ? {} : {Authorization: this.#token};
    const answer = await fetch(`http://${this.endpoint}/v3/${method}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`etcd ${method}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

interface Answer {
  readonly header: {readonly revision: string};
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A TCP port that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
