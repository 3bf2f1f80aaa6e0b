// npm run bench -- [--json FILE] [ROW...]: the budgets of the project, measured; figures are ratios over the floor
// wherever one exists. Ends with 1 when a figure is over its budget or a row could not be measured.
import fs from 'node:fs';
import {parseArgs} from 'node:util';
import {Bench} from './bench.js';
import type {Figure, Row} from './row.js';
import {applyOne, applyTwenty, initChain, nothingToDo, runtimeStart, version} from './rows/process.js';
import {simulated} from './rows/simulated.js';
import {deathLatency, edit, idle, manifestLatency} from './rows/watch.js';

const ROWS: readonly Row[] = [
  version,
  runtimeStart,
  applyOne,
  initChain,
  applyTwenty,
  nothingToDo,
  edit,
  deathLatency,
  manifestLatency,
  idle,
  simulated,
];

const {values, positionals} = parseArgs({options: {json: {type: 'string'}}, allowPositionals: true});
const wanted = positionals.length === 0 ? ROWS : ROWS.filter(row => positionals.includes(row.name));
if (positionals.length > wanted.length) {
  console.error(`rows: ${ROWS.map(row => row.name).join(' ')}`);
  process.exitCode = 2;
} else {
  await runRows();
}

async function runRows(): Promise<void> {
  const figures: Record<string, Figure> = {};
  const bench = await Bench.open();
  try {
    for (const row of wanted) {
      try {
        const measured = await row.measure(bench);
        for (const [name, figure] of Object.entries(measured)) console.log(line(name, figure));
        Object.assign(figures, measured);
      } catch (error) {
        console.log(`${row.name}: could not be measured: ${error instanceof Error ? error.message : String(error)}`);
        process.exitCode = 1;
      }
    }
  } finally {
    await bench.close();
  }
  if (Object.values(figures).some(figure => !isWithin(figure))) process.exitCode = 1;
  if (values.json !== undefined) fs.writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
}

function isWithin({value, budget}: Figure): boolean {
  return budget === null || value <= budget;
}

function line(name: string, figure: Figure): string {
  const verdict = figure.budget === null ? '' : `budget ${figure.budget} ${isWithin(figure) ? 'met' : 'MISSED'}`;
  return `${name.padEnd(22)} ${String(figure.value).padStart(8)} ${figure.unit.padEnd(3)} ${verdict.padEnd(18)} ${figure.detail}`;
}
