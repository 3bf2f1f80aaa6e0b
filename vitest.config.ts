import {defineConfig} from 'vitest/config';

/**
 * Two projects: `unit` needs nothing but Node; `host` needs root and a containerd, and says loudly when it cannot have
 * them. Files of `host` share the machine (bridges, mounts, CPU), so few run at a time.
 */
export default defineConfig({
  test: {
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/chaos/**', 'test/contract/real-*.test.ts'],
          testTimeout: 20_000,
          sequence: {groupOrder: 0},
        },
      },
      {
        test: {
          name: 'host',
          include: ['test/e2e/**/*.test.ts', 'test/chaos/**/*.test.ts', 'test/contract/real-*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
          sequence: {groupOrder: 1},
        },
      },
    ],
  },
});
