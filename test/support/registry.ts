// A real image registry for tests: Debian's docker-registry on a loopback port, with its own storage.
import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {findExecutable} from '../../src/host/run-command.js';
import {pushImage, type PushTarget} from './push-image.js';

/** Why no registry can be had here; null when it can. */
export const noRegistryReason: string | null =
  findExecutable('docker-registry') === null ? 'docker-registry is not installed' : null;

/** The one user of a registry with a password. */
export const LOGIN = {username: 'puller', password: 'open sesame'} as const;
/** That user in an htpasswd file: the registry takes only bcrypt, which neither Node nor openssl can make. */
const HTPASSWD = 'puller:$2y$05$/6QV1A2F4JtmWPj/0NFbXe5Q8MiG1iTthXhF3uLMcsG6DbKsTzZ0O\n';

export class TestRegistry {
  readonly #dir: string;
  #process: ChildProcess | null = null;
  /** Host and port, as image names have it. The same after stop() and start(). */
  address = '127.0.0.1:0';
  readonly #login: PushTarget['login'];

  private constructor(dir: string, login: PushTarget['login']) {
    this.#dir = dir;
    this.#login = login;
  }

  /** An empty registry; `protectedBy` 'htpasswd' lets only LOGIN in. */
  static async create(protectedBy: 'nothing' | 'htpasswd' = 'nothing'): Promise<TestRegistry> {
    const dir = await mkdtemp(join(tmpdir(), 'mk-registry-'));
    const registry = new TestRegistry(dir, protectedBy === 'htpasswd' ? LOGIN : undefined);
    await writeFile(join(dir, 'htpasswd'), HTPASSWD);
    await registry.start();
    return registry;
  }

  /** Starts it if it does not run; after stop() with what it held, at the same address. */
  async start(): Promise<void> {
    if (this.#process !== null) return;
    const auth = {htpasswd: {realm: 'tests', path: join(this.#dir, 'htpasswd')}};
    const config = {
      version: '0.1',
      log: {level: 'info'},
      storage: {filesystem: {rootdirectory: join(this.#dir, 'data')}},
      http: {addr: this.address, secret: 'of tests'},
      ...(this.#login !== undefined && {auth}),
    };
    const file = join(this.#dir, 'config.yml');
    await writeFile(file, JSON.stringify(config));
    const child = spawn('docker-registry', ['serve', file], {stdio: ['ignore', 'ignore', 'pipe']});
    this.#process = child;
    this.address = await listeningAddress(child);
  }

  /** Ends the process: from now on connections are refused. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Ends it and removes what it held. */
  async destroy(): Promise<void> {
    await this.stop();
    await rm(this.#dir, {recursive: true, force: true});
  }

  /** Puts an image in; answers its digest. */
  push(repository: string, tag: string, spec: Parameters<typeof pushImage>[3]): Promise<string> {
    const login = this.#login === undefined ? {} : {login: this.#login};
    return pushImage({url: `http://${this.address}`, ...login}, repository, tag, spec);
  }
}

/** Its log tells the port. Rejects with the log when the process ends instead. */
function listeningAddress(child: ChildProcess): Promise<string> {
  let log = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`docker-registry did not start:\n${log}`)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      const address = /listening on ([\d.:]+\d)/.exec(log)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
}
