import {mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {AgentEvent} from '../../src/core/events.js';
import type {SourceSnapshot} from '../../src/core/source-mux.js';
import {systemClock, type Clock} from '../../src/lib/clock.js';
import {readManifestTexts} from '../../src/manifest/read-texts.js';
import {fileSource} from '../../src/sources/file.js';
import type {WatchDirectory} from '../../src/sources/path-watch.js';
import {FakeClock, settle} from '../fakes/fake-clock.js';

interface Followed {
  readonly dir: string;
  readonly reported: AgentEvent[];
  /** The next snapshot, as `name image`, brackets around what is wrong. */
  next(): Promise<readonly string[]>;
  /** The next snapshot, however long it takes on this clock. */
  nextOn(clock: FakeClock): Promise<readonly string[]>;
  /** Files of the pods of the next snapshot. */
  nextFiles(): Promise<readonly string[]>;
  write(name: string, text: string): void;
}

function pod(name: string, image = 'busybox:1.36'): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: "${image}"}]}\n`;
}

function follow({
  target = (dir: string) => dir,
  setUp = (_dir: string): void => undefined,
  clock = systemClock,
  watch,
  checkFrequencyMs = 20_000,
}: {
  readonly target?: (dir: string) => string;
  readonly setUp?: (dir: string) => void;
  readonly clock?: Clock;
  readonly watch?: WatchDirectory;
  readonly checkFrequencyMs?: number;
} = {}): Followed {
  const base = mkdtempSync(path.join(tmpdir(), 'file-source-'));
  const dir = path.join(base, 'manifests');
  mkdirSync(dir);
  setUp(dir);
  const stop = new AbortController();
  const reported: AgentEvent[] = [];
  const snapshots = fileSource({
    target: target(dir),
    clock,
    checkFrequencyMs,
    report: event => reported.push(event),
    interpret: files => readManifestTexts(files, {nodeName: 'n', validate: 'strict', requireReferences: false}),
    signal: stop.signal,
    ...(watch !== undefined && {watch}),
  });
  onTestFinished(async () => {
    stop.abort(new Error('over'));
    await snapshots.next().catch(() => undefined);
    rmSync(base, {recursive: true, force: true});
  });
  return {
    dir,
    reported,
    async next() {
      const {value} = await snapshots.next();
      return shown(value);
    },
    async nextOn(standing) {
      const state = {isHere: false};
      const coming = snapshots.next().finally(() => (state.isHere = true));
      while (!state.isHere) {
        await settle();
        if (standing.nextDue !== null) await standing.advance(standing.nextDue - standing.now());
      }
      return shown((await coming).value);
    },
    async nextFiles() {
      const {value} = await snapshots.next();
      return value.pods.map(({position}) => path.basename(position.file));
    },
    write: (name, text) => writeFileSync(path.join(dir, name), text),
  };
}

function shown({pods, problems}: SourceSnapshot): readonly string[] {
  return [
    ...pods.map(({pod: {metadata, spec}}) => `${metadata.name} ${spec.containers[0]?.image}`),
    ...problems.map(({position}) => `[${path.basename(position.file)}]`),
  ];
}

describe('fileSource', () => {
  it('delivers an empty directory once, then every change', async () => {
    const source = follow();
    expect(await source.next()).toEqual([]);
    source.write('web.yaml', pod('web'));
    expect(await source.next()).toEqual(['web-n busybox:1.36']);
    source.write('web.yaml', pod('web', 'busybox:2'));
    expect(await source.next()).toEqual(['web-n busybox:2']);
    unlinkSync(path.join(source.dir, 'web.yaml'));
    expect(await source.next()).toEqual([]);
  });

  it('reads every file whose name does not begin with a dot, in name order', async () => {
    const source = follow({
      setUp(dir) {
        for (const name of ['b.txt', 'a.json', '.hidden.yaml']) writeFileSync(path.join(dir, name), pod(`p${name[0]}`));
        mkdirSync(path.join(dir, 'sub'));
      },
    });
    expect(await source.next()).toEqual(['pa-n busybox:1.36', 'pb-n busybox:1.36']);
  });

  it('keeps the last good version of a file that breaks, and says so', async () => {
    const source = follow({setUp: dir => writeFileSync(path.join(dir, 'web.yaml'), pod('web'))});
    await source.next();
    source.write('web.yaml', 'kind: Pod\nspec: [');
    expect(await source.next()).toEqual(['web-n busybox:1.36', '[web.yaml]']);
    source.write('web.yaml', pod('web', 'busybox:3'));
    expect(await source.next()).toEqual(['web-n busybox:3']);
  });

  it('takes a rename into place as one change', async () => {
    const source = follow({setUp: dir => writeFileSync(path.join(dir, 'web.yaml'), pod('web'))});
    await source.next();
    source.write('.web.yaml.tmp', pod('web', 'busybox:9'));
    renameSync(path.join(source.dir, '.web.yaml.tmp'), path.join(source.dir, 'web.yaml'));
    expect(await source.next()).toEqual(['web-n busybox:9']);
  });

  it('never lets a pod go whose file is given another name between two looks', async () => {
    const clock = new FakeClock();
    const source = follow({clock, setUp: dir => writeFileSync(path.join(dir, 'a.yaml'), pod('web'))});
    const isWaiting = (ms: number): Promise<void> =>
      expect.poll(() => (clock.nextDue ?? 0) - clock.now(), {interval: 1, timeout: 10_000}).toBe(ms);
    const first = source.next();
    await isWaiting(25);
    await clock.advance(25);
    expect(await first).toEqual(['web-n busybox:1.36']);
    const second = source.nextFiles();
    await isWaiting(19_975);
    await clock.advance(19_975);
    await isWaiting(25);
    renameSync(path.join(source.dir, 'a.yaml'), path.join(source.dir, 'b.yaml'));
    await clock.advance(25);
    await isWaiting(25);
    await clock.advance(25);
    expect(await second).toEqual(['b.yaml']);
  });

  it('follows links and swaps of the directories behind them', async () => {
    const source = follow({
      setUp(dir) {
        for (const version of ['1', '2']) {
          mkdirSync(path.join(dir, `..v${version}`));
          writeFileSync(path.join(dir, `..v${version}`, 'web.yaml'), pod('web', `busybox:${version}`));
        }
        symlinkSync('..v1', path.join(dir, '..data'));
        symlinkSync('..data/web.yaml', path.join(dir, 'web.yaml'));
      },
    });
    expect(await source.next()).toEqual(['web-n busybox:1']);
    symlinkSync('..v2', path.join(source.dir, '..data_tmp'));
    renameSync(path.join(source.dir, '..data_tmp'), path.join(source.dir, '..data'));
    expect(await source.next()).toEqual(['web-n busybox:2']);
  });

  it('follows a swap of a link that is the directory itself', async () => {
    const source = follow({
      target: dir => `${dir}-link`,
      setUp(dir) {
        mkdirSync(`${dir}-2`);
        writeFileSync(path.join(dir, 'web.yaml'), pod('web', 'busybox:1'));
        writeFileSync(`${dir}-2/web.yaml`, pod('web', 'busybox:2'));
        symlinkSync(dir, `${dir}-link`);
      },
    });
    expect(await source.next()).toEqual(['web-n busybox:1']);
    symlinkSync(`${source.dir}-2`, `${source.dir}-tmp`);
    renameSync(`${source.dir}-tmp`, `${source.dir}-link`);
    expect(await source.next()).toEqual(['web-n busybox:2']);
  });

  it('keeps what runs when the directory vanishes, until it is back', async () => {
    const source = follow({setUp: dir => writeFileSync(path.join(dir, 'web.yaml'), pod('web'))});
    await source.next();
    const coming = source.next();
    renameSync(source.dir, `${source.dir}-away`);
    await expect.poll(() => source.reported).toMatchObject([{kind: 'notice', level: 'warning'}]);
    mkdirSync(source.dir);
    writeFileSync(path.join(source.dir, 'other.yaml'), pod('other'));
    expect(await coming).toEqual(['other-n busybox:1.36']);
  });

  it.for(['ENOSPC', 'EMFILE'])(
    'says so when the kernel gives no more watches (%s), and looks every second',
    async code => {
      const clock = new FakeClock();
      const refuse = (): never => {
        throw Object.assign(new Error('no more of them'), {code});
      };
      const source = follow({
        clock,
        watch: refuse,
        setUp: dir => writeFileSync(path.join(dir, 'web.yaml'), pod('web')),
      });
      expect(await source.nextOn(clock)).toEqual(['web-n busybox:1.36']);
      expect(source.reported).toMatchObject([{kind: 'notice', level: 'warning'}]);
      expect(JSON.stringify(source.reported)).toContain('fs.inotify');
      source.write('job.yaml', pod('job'));
      expect(await source.nextOn(clock)).toEqual(['job-n busybox:1.36', 'web-n busybox:1.36']);
      expect(source.reported).toHaveLength(1);
    },
  );

  it('reads everything again every 20 s, also where nothing seems to have changed, watches or none', async () => {
    const clock = new FakeClock();
    const refuse = (): never => {
      throw Object.assign(new Error('no more of them'), {code: 'ENOSPC'});
    };
    const file = (dir: string): string => path.join(dir, 'web.yaml');
    const write = (dir: string, image: string): void => {
      writeFileSync(file(dir), pod('web', image));
      utimesSync(file(dir), 1, 1);
    };
    const source = follow({clock, watch: refuse, setUp: dir => write(dir, 'busybox:1')});
    expect(await source.nextOn(clock)).toEqual(['web-n busybox:1']);
    write(source.dir, 'busybox:2');
    expect(await source.nextOn(clock)).toEqual(['web-n busybox:2']);
  });

  it('takes a thousand files that change at once', async () => {
    const names = Array.from({length: 1000}, (_, index) => `p${index}`);
    const write = (dir: string, image: string): void => {
      for (const name of names) writeFileSync(path.join(dir, `${name}.yaml`), pod(name, image));
    };
    const source = follow({setUp: dir => write(dir, 'busybox:1')});
    expect(await source.next()).toHaveLength(1000);
    write(source.dir, 'busybox:2');
    for (let shown = await source.next(); shown.some(line => !line.endsWith(':2')); shown = await source.next()) {
      expect(shown).toHaveLength(1000);
    }
  });

  it('follows a single file, and its deletion', async () => {
    const source = follow({
      target: dir => path.join(dir, 'web.yaml'),
      setUp: dir => writeFileSync(path.join(dir, 'web.yaml'), pod('web')),
    });
    expect(await source.next()).toEqual(['web-n busybox:1.36']);
    source.write('other.yaml', pod('other'));
    unlinkSync(path.join(source.dir, 'web.yaml'));
    expect(await source.next()).toEqual([]);
  });

  it('waits for a directory that does not exist yet', async () => {
    const source = follow({target: dir => `${dir}-later`});
    const coming = source.next();
    await expect.poll(() => source.reported.length).toBe(1);
    mkdirSync(`${source.dir}-later`);
    expect(await coming).toEqual([]);
  });
});
