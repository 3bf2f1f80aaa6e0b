// The process itself, under the names that every Prometheus client uses.
import {readdir} from 'node:fs/promises';
import type {Family} from './prometheus.js';

/** `startedAt`: Unix time, s. */
export async function processFamilies(startedAt: number): Promise<readonly Family[]> {
  const {user, system} = process.cpuUsage();
  const openFiles = await readdir('/proc/self/fd');
  const of = (name: string, help: string, value: number): Family => {
    return {name: `process_${name}`, help, type: name.endsWith('_total') ? 'counter' : 'gauge', samples: [{value}]};
  };
  return [
    of('cpu_seconds_total', 'CPU time, user and system.', (user + system) / 1e6),
    of('start_time_seconds', 'When the process started, Unix time.', startedAt),
    of('resident_memory_bytes', 'Memory in use.', process.memoryUsage.rss()),
    of('open_fds', 'Open file descriptors.', openFiles.length),
  ];
}
