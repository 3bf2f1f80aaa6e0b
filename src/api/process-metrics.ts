// The process itself, under the names that every Prometheus client uses. The library's own set comes with timers that wake an
// idle process a hundred times a second.
import {readdir} from 'node:fs/promises';
import type * as PromClient from 'prom-client';
import type {Registry} from 'prom-client';
import type {Clock} from '../lib/clock.js';

export function addProcessMetrics(client: typeof PromClient, registry: Registry, clock: Clock): void {
  const registers = [registry];
  const startedAt = clock.now() / 1000 - process.uptime();
  let counted = 0;
  new client.Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time, user and system.',
    registers,
    collect() {
      const {user, system} = process.cpuUsage();
      const total = (user + system) / 1e6;
      this.inc(total - counted);
      counted = total;
    },
  });
  new client.Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, Unix time.',
    registers,
    collect() {
      this.set(startedAt);
    },
  });
  new client.Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory in use.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new client.Gauge({
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    registers,
    async collect() {
      this.set((await readdir('/proc/self/fd')).length);
    },
  });
}
