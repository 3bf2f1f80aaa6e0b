// Bundles the command line into dist/: one CommonJS file, the oclif manifest, and the bytecode of what a run compiles.
// Start-up time is the reason for all three (docs/decisions.md). With --if-stale, only when a source is newer.
import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import Module from 'node:module';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {Script} from 'node:vm';
import {Config} from '@oclif/core';
import {build, type Plugin} from 'esbuild';
import {oclifPackage} from '../src/cli/main.js';
import {acquireLock, thisProcess} from '../src/host/lock.js';
import {systemClock} from '../src/lib/clock.js';
import {startCriServer} from '../test/fakes/cri-server.js';
import {FakeRuntime} from '../test/fakes/fake-runtime.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const BUNDLE = join(DIST, 'minikubelet.cjs');
const run = promisify(execFile);

/** oclif loads these only to run TypeScript plugins, which we do not have; bundled they would add 10 MB. */
const NEVER_LOADED = ['typescript', 'ts-node', 'tsx', 'tsconfig-paths'];

/** oclif's core loads these at its start, and grpc-js the last one for its own debugging; neither calls them here. */
const NEVER_CALLED = ['semver', 'minimatch', 'tinyglobby', 'lilconfig', 'wsl-utils', '@grpc/proto-loader'];

/** What oclif does slowly at each start: an expression in one of its files, and what takes its place in the bundle. */
const OCLIF_SHORTCUTS = [
  // It sorts the ids of its commands by the rules of a language, and loads the tables of all languages for it: 15 ms of each
  // start. Ids are ASCII words, so their bytes give the same order.
  {file: 'config/plugin.js', slow: 'a.id.localeCompare(b.id)', fast: '(a.id < b.id ? -1 : 1)'},
  // It hands the reading of its manifest to threads that have to be started first: 1 ms.
  {
    file: 'util/fs.js',
    slow: "await (0, promises_1.readFile)(path, 'utf8')",
    fast: "(0, node_fs_1.readFileSync)(path, 'utf8')",
  },
];

const oclifShortcuts: Plugin = {
  name: 'oclif-shortcuts',
  setup(builder) {
    for (const {file, slow, fast} of OCLIF_SHORTCUTS) {
      const filter = new RegExp(`/@oclif/core/lib/${file.replaceAll('.', String.raw`\.`)}$`);
      builder.onLoad({filter}, async ({path}) => {
        const source = await readFile(path, 'utf8');
        const contents = source.replace(slow, fast);
        return contents === source ? {errors: [{text: `oclif does without ${slow} now`}]} : {contents};
      });
    }
  },
};

/** Writes the bundle and answers its build id, which its first line tells bin/run.js. */
async function writeBundle(): Promise<string> {
  const {outputFiles} = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/commands/index.ts'],
    outfile: BUNDLE,
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // A script that starts from bytecode has no import() of its own: what is not in the bundle is required.
    supported: {'dynamic-import': false},
    // bin/run.js reads it as latin1, which spares the decoding.
    charset: 'ascii',
    external: NEVER_LOADED,
    alias: Object.fromEntries(NEVER_CALLED.map(name => [name, join(ROOT, 'scripts/never-called.ts')])),
    // npm has checked Node's version at installation: oclif need not read package.json for that at each start.
    define: {'process.env.NODE_ENV': '"production"', 'process.env.OCLIF_DISABLE_ENGINE_WARNING': '"1"'},
    plugins: [oclifShortcuts],
    minifyWhitespace: true,
    minifySyntax: true,
    // Whoever reports a bug has lines to point at.
    lineLimit: 160,
    legalComments: 'linked',
    logLevel: 'warning',
  });
  const code = outputFiles.find(file => file.path === BUNDLE)?.text ?? '';
  const id = createHash('sha256').update(code).digest('hex').slice(0, 16);
  await replace(BUNDLE, `// ${id}\n${Module.wrap(code)}`);
  for (const file of outputFiles) if (file.path !== BUNDLE) await replace(file.path, file.text);
  return id;
}

/** The commands and flags as data, so that oclif need not load every command to find one. */
async function writeManifest(): Promise<void> {
  const pjson = oclifPackage('./src/commands/index.ts') as never;
  const config = await Config.load({root: ROOT, pjson, ignoreManifest: true, devPlugins: false, userPlugins: false});
  // oclif's types keep the manifest of a plugin to themselves.
  const [plugin] = config.getPluginsList() as unknown as readonly {readonly manifest: object}[];
  if (plugin === undefined) throw new Error('oclif found no plugin in its own package');
  await replace(join(DIST, 'oclif.manifest.json'), JSON.stringify(plugin.manifest));
}

/** The image of the pod that the bytecode's run applies; the runtime in memory has it. */
const WARM_UP_IMAGE = 'docker.io/library/busybox:1.36';
const WARM_UP_CONTAINERS = [{name: 'main', image: WARM_UP_IMAGE, command: ['sleep', '1000']}];
const WARM_UP_JSON = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'json'}, spec: {containers: WARM_UP_CONTAINERS}};
const WARM_UP_YAML = `apiVersion: v1
kind: Pod
metadata: {name: yaml}
spec:
  containers: ${JSON.stringify(WARM_UP_CONTAINERS)}
`;

/**
 * Keeps the bytecode of every function that a whole `apply` compiles, and another one that finds nothing to do, against a
 * runtime in memory: what is not in it costs a user's run the time to compile it. Where an apply cannot be had (not root),
 * that of `version` has to do. What only says a word (--version, --help) has its own, for reading in the whole one would be
 * most of its time.
 */
async function writeBytecode(id: string): Promise<void> {
  const [short, whole] = [join(DIST, `${id}.short.bytecode`), join(DIST, `${id}.whole.bytecode`)];
  const saveTo =
    (file: string) =>
    async (...words: string[]): Promise<void> => {
      const env = {...process.env, MINIKUBELET_SAVE_BYTECODE: `${file}.tmp`};
      await run(process.execPath, [join(ROOT, 'bin/run.js'), ...words], {env});
      await rename(`${file}.tmp`, file);
      await checkBytecode(file);
    };
  await saveTo(short)('version', '--client');
  if (process.getuid?.() === 0) await applyInMemory(saveTo(whole));
  else await copyFile(short, whole);
  const old = (await readdir(DIST)).filter(name => name.endsWith('.bytecode') && !name.startsWith(id));
  await Promise.all(old.map(name => rm(join(DIST, name), {force: true})));
}

/** V8 says nothing of bytecode it will not have: every start would only be slow. */
async function checkBytecode(file: string): Promise<void> {
  const [source, cachedData] = await Promise.all([readFile(BUNDLE, 'latin1'), readFile(file)]);
  const {cachedDataRejected} = new Script(source, {filename: BUNDLE, cachedData});
  if (cachedDataRejected === true) throw new Error(`${file} would be rejected`);
}

async function applyInMemory(save: (...words: string[]) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'mk-build-'));
  const runtime = new FakeRuntime({clock: systemClock, images: [WARM_UP_IMAGE]});
  const server = await startCriServer(runtime, {socket: join(dir, 'cri.sock')});
  try {
    const pods = join(dir, 'pods');
    await mkdir(pods);
    await writeFile(join(pods, 'pod.yaml'), WARM_UP_YAML);
    await writeFile(join(pods, 'pod.json'), JSON.stringify(WARM_UP_JSON));
    const flags = ['--root-dir', join(dir, 'root'), '--runtime-endpoint', server.endpoint];
    // The second run starts from the bytecode of the first, and so saves both.
    for (let run = 0; run < 2; run++) await save('apply', pods, ...flags, '--no-cgroups-per-qos', '--timeout', '20s');
  } finally {
    server.close();
    await rm(dir, {recursive: true, force: true});
  }
}

/** A reader sees the old file or the new one, never half of one. */
async function replace(file: string, content: string): Promise<void> {
  await writeFile(`${file}.tmp`, content);
  await rename(`${file}.tmp`, file);
}

/** Whether a source is newer than the newest thing built from it. */
async function isStale(): Promise<boolean> {
  const built = await newest(DIST, name => name.endsWith('.bytecode'));
  const sources = await Promise.all([
    newest(join(ROOT, 'src'), () => true),
    newest(join(ROOT, 'scripts'), name => name === 'build.ts'),
    newest(join(ROOT, 'bin'), name => name === 'run.js'),
    stat(join(ROOT, 'package.json')).then(info => info.mtimeMs),
  ]);
  return sources.some(at => at >= built);
}

/** Time of the last change below `dir` among files that `matches`, ms; 0 = there are none. */
async function newest(dir: string, matches: (name: string) => boolean): Promise<number> {
  const entries = await readdir(dir, {recursive: true, withFileTypes: true}).catch(() => []);
  const files = entries.filter(entry => entry.isFile() && matches(entry.name));
  const times = await Promise.all(files.map(async file => (await stat(join(file.parentPath, file.name))).mtimeMs));
  return Math.max(0, ...times);
}

await mkdir(DIST, {recursive: true});
// Several test files may want the binary at once.
const lock = await acquireLock(join(DIST, '.lock'), thisProcess(), {waitSeconds: 120});
try {
  if (!process.argv.includes('--if-stale') || (await isStale())) {
    const [id] = await Promise.all([writeBundle(), writeManifest()]);
    await writeBytecode(id);
  }
} finally {
  await lock.release();
}
