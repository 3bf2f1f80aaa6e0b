import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {stripControl} from '../../../src/cli/output/table.js';
import {openTaskList} from '../../../src/cli/progress/task-list.js';
import {story, web} from './events.js';

/** A terminal that remembers all that was ever written to it. */
function terminal() {
  const stream = Object.assign(new PassThrough(), {isTTY: true, columns: 80, rows: 24});
  let written = '';
  stream.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  return {stream: stream as unknown as NodeJS.WriteStream, written: () => written};
}

test('at the end each pod has one line with the last word on it, and notices stay', async () => {
  const {stream, written} = terminal();
  const view = await openTaskList(stream);
  story.forEach(view.report);
  view.settle(web.uid, 'up', 'created, Running, 1/1 ready');
  view.report({kind: 'status', at: 0, pod: web, status: {phase: 'Failed'}});
  await view.close();
  const last = stripControl(written()).trimEnd().split('\n').slice(-4);
  expect(last).toEqual([
    '⚠ using the embedded runtime',
    '✔ default/web-box  created, Running, 1/1 ready',
    '✔ batch/job-box  terminated',
    '⚠ default/web-box  pods/b.yaml:3:1: defined twice',
  ]);
});

test('the cursor is hidden while the list is shown and back at its end', async () => {
  const {stream, written} = terminal();
  const view = await openTaskList(stream);
  expect(written()).toContain('\u001b[?25l');
  await view.close();
  expect(written().lastIndexOf('\u001b[?25h')).toBeGreaterThan(written().lastIndexOf('\u001b[?25l'));
});

test('listr2 installs no signal listener of its own: it would end the process with 127', async () => {
  const before = process.listenerCount('SIGINT');
  const view = await openTaskList(terminal().stream);
  expect(process.listenerCount('SIGINT')).toBe(before);
  await view.close();
});
