import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, test} from 'vitest';
import {identifyProcess, isEnding} from '../../src/host/process-identity.js';

test('a process that was killed is ending or gone at once, before the kernel has finished with it', async () => {
  for (let round = 0; round < 50; round++) {
    const child = spawn('sleep', ['1000'], {stdio: 'ignore'});
    await once(child, 'spawn');
    const pid = child.pid!;
    expect(isEnding(pid)).toBe(false);
    process.kill(pid, 'SIGKILL');
    expect(isEnding(pid) || identifyProcess(pid) === null).toBe(true);
    await once(child, 'exit');
    expect(isEnding(pid)).toBe(false);
    expect(identifyProcess(pid)).toBeNull();
  }
});
