// Where the API listens: always on a Unix socket that only its owner may use, and on a TCP port if asked for, behind a token.
import {createHash, timingSafeEqual} from 'node:crypto';
import {chmod, mkdtemp, readFile, rename, rm} from 'node:fs/promises';
import type http from 'node:http';
import type {AddressInfo, ListenOptions} from 'node:net';
import {dirname, join} from 'node:path';
import {HostError, UsageError} from '../core/errors.js';

export interface TcpListener {
  readonly host: string;
  /** 0 = any that is free. */
  readonly port: number;
  /** Absolute path of a file that holds the token clients must bring. */
  readonly tokenFile: string;
}

/** `127.0.0.1:8080`, `[::1]:8080`, `:8080`. Throws UsageError. */
export function parseListenAddress(text: string): Pick<TcpListener, 'host' | 'port'> {
  const [, bracketed, plain = '', digits = ''] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) {
    throw new UsageError(`${JSON.stringify(text)} is not HOST:PORT`, {hint: 'e.g. 127.0.0.1:10255'});
  }
  return {host: bracketed ?? plain, port};
}

/**
 * Listens on a socket of mode 0600 at `path`, instead of whatever was left there: whoever may call this holds the lock of the
 * root directory. It is made in a directory nobody else may enter, so it is never open to others. Rejects with HostError.
 */
export async function listenOnSocket(server: http.Server, path: string): Promise<void> {
  try {
    const nursery = await mkdtemp(`${dirname(path)}/.`);
    try {
      const unborn = join(nursery, 's');
      await listening(server, {path: unborn});
      await chmod(unborn, 0o600);
      await rename(unborn, path);
    } finally {
      await rm(nursery, {recursive: true, force: true});
    }
  } catch (error) {
    const reason = (error as Error).message;
    throw new HostError(`cannot listen on ${path}: ${reason}`, {
      cause: error,
      hint: 'a socket needs a path of less than 108 bytes on a disk that can be written to; see --root-dir',
    });
  }
}

/** Listens on a TCP port; answers where. Rejects with HostError. */
export async function listenOnPort(server: http.Server, {host, port}: TcpListener): Promise<AddressInfo> {
  try {
    await listening(server, host === '' ? {port} : {host, port});
  } catch (error) {
    throw new HostError(`cannot listen on ${host}:${port}: ${(error as Error).message}`, {cause: error});
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a TCP address');
  return address;
}

function listening(server: http.Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

export interface TokenCheck {
  /** Whether an Authorization header brings the token. Takes the same time whatever is wrong with it. */
  admits(authorization: string | undefined): Promise<boolean>;
}

/** Reads the file anew at each check, so that a token can be changed. Rejects with UsageError when there is no token now. */
export async function openTokenCheck(tokenFile: string): Promise<TokenCheck> {
  const readToken = async (): Promise<string> => {
    const token = (await readFile(tokenFile, 'utf8')).trim();
    if (token === '') throw new Error('it is empty');
    return token;
  };
  try {
    await readToken();
  } catch (error) {
    throw new UsageError(`no token in ${tokenFile}: ${(error as Error).message}`, {
      cause: error,
      hint: 'a TCP port needs a file with a token that clients bring as "Authorization: Bearer TOKEN"',
    });
  }
  return {
    async admits(authorization = '') {
      const given = /^Bearer +(.*)$/i.exec(authorization)?.[1]?.trim() ?? '';
      try {
        return timingSafeEqual(digest(given), digest(await readToken()));
      } catch {
        // Without a token nobody is let in.
        return false;
      }
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
