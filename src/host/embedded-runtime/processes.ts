// The processes of an embedded runtime, daemon and shims: those that name its socket or its configuration.
import {readdir} from 'node:fs/promises';
import {basename} from 'node:path';
import {processArguments} from '../process-identity.js';
import type {RuntimePaths} from './paths.js';

/** Live pids, the daemon and its shims alike. */
export async function runtimeProcesses(paths: RuntimePaths): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(pid => pid > 0);
  return pids.filter(pid => {
    const [program = '', ...args] = processArguments(pid);
    return basename(program).startsWith('containerd') && [paths.socket, paths.config].some(own => args.includes(own));
  });
}
