// Rows that time whole processes: --version, apply over the floor, apply with nothing to do, runtime start.
import fs from 'node:fs';
import path from 'node:path';
import {expectSuccess, podManifest, type Bench, type Finished} from '../bench.js';
import {median, pairedRatio, round, type Figure, type Row} from '../row.js';

/**
 * Runs two programs in turn, so that both see the same machine; who begins changes each time, because each leaves something
 * behind that the next one pays for (the file system passes over what was deleted just before).
 */
async function inTurn(
  rounds: number,
  first: () => Promise<Finished>,
  second: () => Promise<Finished>,
): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []];
  const programs = [first, second] as const;
  for (let turn = 0; turn < rounds; turn++) {
    for (const index of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      times[index].push((await programs[index]()).ms);
    }
  }
  return times;
}

export const version: Row = {
  name: 'version',
  async measure(bench) {
    const [node, own] = await inTurn(
      15,
      () => bench.program(['-e', '0']),
      async () => expectSuccess('--version', await bench.minikubelet('--version')),
    );
    const detail = `node -e 0 ${round(median(node), 0)} ms, minikubelet --version ${round(median(own), 0)} ms`;
    return {version: {value: round(median(own) - median(node), 0), unit: 'ms', budget: 80, detail}};
  },
};

/** Whole `apply` process over whole floor process, each making the same pods anew. */
async function applyOverFloor(
  bench: Bench,
  plan: {count: number; concurrency: number; initContainers: number; rounds: number; budget: number},
): Promise<Figure> {
  const dir = bench.manifestDir('apply');
  for (let index = 0; index < plan.count; index++) {
    const {initContainers} = plan;
    fs.writeFileSync(path.join(dir, `${index}.yaml`), podManifest(`pod-${index}`, {initContainers}));
  }
  const [floor, own] = await inTurn(
    plan.rounds,
    async () => {
      const finished = expectSuccess('the floor', await bench.floor(plan));
      await bench.removeFloor();
      return finished;
    },
    async () => {
      const finished = expectSuccess('apply', await bench.minikubelet('apply', dir));
      expectSuccess('delete', await bench.minikubelet('delete', dir));
      return finished;
    },
  );
  const detail = `floor ${round(median(floor), 0)} ms, apply ${round(median(own), 0)} ms, ${plan.rounds} rounds`;
  return {value: round(pairedRatio(own, floor)), unit: 'x', budget: plan.budget, detail};
}

export const applyOne: Row = {
  name: 'apply-1',
  async measure(bench) {
    const plan = {count: 1, concurrency: 1, initContainers: 0, rounds: 41, budget: 1.25};
    return {'apply-1': await applyOverFloor(bench, plan)};
  },
};

export const applyTwenty: Row = {
  name: 'apply-20',
  async measure(bench) {
    const concurrency = await bestConcurrency(bench, 20);
    const plan = {count: 20, concurrency, initContainers: 0, rounds: 25, budget: 1.05};
    return {'apply-20': await applyOverFloor(bench, plan)};
  },
};

/** The floor is the fastest way there is, so its concurrency is found out, not assumed; one run alone may have been unlucky. */
async function bestConcurrency(bench: Bench, count: number): Promise<number> {
  const candidates = [2, 5, 10, count].map(concurrency => ({concurrency, times: [] as number[]}));
  for (let turn = 0; turn < 3; turn++) {
    for (const {concurrency, times} of candidates) {
      times.push(expectSuccess('the floor', await bench.floor({count, concurrency, initContainers: 0})).ms);
      await bench.removeFloor();
    }
  }
  const [best] = candidates.sort((a, b) => median(a.times) - median(b.times));
  return best?.concurrency ?? count;
}

export const initChain: Row = {
  name: 'init-chain',
  async measure(bench) {
    const plan = {count: 1, concurrency: 1, initContainers: 3, rounds: 41, budget: 1.15};
    return {'init-chain': await applyOverFloor(bench, plan)};
  },
};

export const nothingToDo: Row = {
  name: 'apply-nothing-100',
  async measure(bench) {
    const dir = bench.manifestDir('nothing');
    for (let index = 0; index < 100; index++) {
      fs.writeFileSync(path.join(dir, `${index}.yaml`), podManifest(`many-${index}`));
    }
    expectSuccess('apply', await bench.minikubelet('apply', dir));
    const [node, own] = await inTurn(
      7,
      () => bench.program(['-e', '0']),
      async () => {
        const finished = expectSuccess('apply', await bench.minikubelet('apply', dir));
        if ((finished.stdout.match(/unchanged/g) ?? []).length < 100) throw new Error(finished.stdout);
        return finished;
      },
    );
    expectSuccess('delete', await bench.minikubelet('delete', dir));
    const detail = `node -e 0 ${round(median(node), 0)} ms in the same run`;
    return {'apply-nothing-100': {value: round(median(own), 0), unit: 'ms', budget: 400, detail}};
  },
};

export const runtimeStart: Row = {
  name: 'runtime-start',
  async measure(bench) {
    const times: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const root = fs.mkdtempSync('/tmp/mkb-');
      const run = (verb: string): Promise<Finished> =>
        bench.program([path.join(import.meta.dirname, '../../../bin/run.js'), 'runtime', verb, '--root-dir', root]);
      times.push(expectSuccess('runtime start', await run('start')).ms);
      expectSuccess('runtime stop', await run('stop'));
      fs.rmSync(root, {recursive: true, force: true});
    }
    const detail = 'whole process, first start of a root directory';
    return {'runtime-start': {value: round(median(times) / 1000), unit: 's', budget: 2, detail}};
  },
};
