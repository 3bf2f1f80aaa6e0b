// The file systems in memory that volumes live on: tmpfs and hugetlbfs.
import {mustRun, runCommand} from '../run-command.js';

/** Mounts a tmpfs, without swap where the kernel can. `bytes` null = the kernel's own limit, half of the memory. */
export async function mountTmpfs(dir: string, bytes: bigint | null, signal: AbortSignal): Promise<void> {
  const size = bytes === null ? [] : [`size=${bytes}`];
  const mount = (options: readonly string[]): readonly string[] => [
    '-t',
    'tmpfs',
    ...(options.length === 0 ? [] : ['-o', options.join(',')]),
    'tmpfs',
    dir,
  ];
  // Linux 6.4 and later know noswap; older ones refuse the mount as a whole.
  const {code} = await runCommand('mount', mount([...size, 'noswap']), {signal});
  if (code !== 0) await mustRun('mount', mount(size), {signal});
}

export async function mountHugePages(dir: string, pageBytes: bigint, signal: AbortSignal): Promise<void> {
  await mustRun('mount', ['-t', 'hugetlbfs', '-o', `pagesize=${pageBytes}`, 'nodev', dir], {signal});
}
