// Everything of a machine that the embedded runtime could leave behind, as comparable text.
import {readdir, readFile} from 'node:fs/promises';
import {readMountinfo} from '../../src/host/mountinfo.js';
import {processArguments} from '../../src/host/process-identity.js';
import {mustRun} from '../../src/host/run-command.js';

export interface MachineState {
  readonly mounts: readonly string[];
  readonly links: readonly string[];
  readonly rules: readonly string[];
  readonly processes: readonly string[];
  /** Whatever is below /run and /var/lib/cni: network namespaces, shim sockets, runc's state, CNI's caches. */
  readonly files: readonly string[];
}

/** The state as this process sees it; meaningful where nobody else changes it, that is, in namespaces of its own. */
export async function machineState(): Promise<MachineState> {
  const mounts = readMountinfo().map(mount => `${mount.mountPoint} ${mount.fsType} ${mount.options.join(',')}`);
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number);
  const rules = (await mustRun('iptables-save', [])).split('\n').filter(line => line !== '' && !line.startsWith('#'));
  return {
    mounts: mounts.toSorted(),
    links: (await readFile('/proc/net/dev', 'utf8'))
      .split('\n')
      .flatMap(line => /^\s*([^\s:]+):/.exec(line)?.[1] ?? []),
    rules: rules.map(line => line.replace(/\[\d+:\d+\]/, '')),
    processes: pids
      .map(pid => processArguments(pid).slice(0, 3).join(' '))
      .filter(isOfInterest)
      .toSorted(),
    files: [...(await filesUnder('/run')), ...(await filesUnder('/var/lib/cni'))],
  };
}

/** Node starts and ends helper threads and processes of its own (esbuild). */
function isOfInterest(command: string): boolean {
  return command !== '' && !command.includes('esbuild');
}

async function filesUnder(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, {recursive: true, withFileTypes: true}).catch(() => []);
  return entries.map(entry => `${entry.parentPath}/${entry.name}`).toSorted();
}
