// Bundles the command line into dist/: one CommonJS file, the oclif manifest, and the bytecode of what a run compiles.
// Start-up time is the reason for all three (docs/decisions.md).
import {execFile} from 'node:child_process';
import {mkdir, rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {Config} from '@oclif/core';
import {build} from 'esbuild';
import {oclifPackage} from '../src/cli/main.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUNDLE = 'minikubelet.cjs';
const run = promisify(execFile);

/** oclif loads these only to run TypeScript plugins, which we do not have; bundled they would add 10 MB. */
const NEVER_LOADED = ['typescript', 'ts-node', 'tsx', 'tsconfig-paths'];

async function bundle(outdir: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/commands/index.ts'],
    outfile: join(outdir, BUNDLE),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    charset: 'ascii',
    external: NEVER_LOADED,
    define: {'process.env.NODE_ENV': '"production"'},
    legalComments: 'linked',
    logLevel: 'warning',
  });
}

/** The commands and flags as data, so that oclif need not load every command to find one. */
async function writeManifest(outdir: string): Promise<void> {
  const pjson = oclifPackage('./src/commands/index.ts') as never;
  const config = await Config.load({root: ROOT, pjson, ignoreManifest: true, devPlugins: false, userPlugins: false});
  const [plugin] = config.getPluginsList();
  if (plugin === undefined) throw new Error('oclif found no plugin in its own package');
  await writeFile(join(outdir, 'oclif.manifest.json'), JSON.stringify(plugin.manifest));
}

/** Runs commands as a user would and keeps the bytecode of every function they compiled. */
async function writeBytecode(outdir: string): Promise<void> {
  const file = join(outdir, 'minikubelet.bytecode');
  await run(process.execPath, [join(ROOT, 'bin/run.js'), 'version', '--client'], {
    env: {...process.env, MINIKUBELET_SAVE_BYTECODE: `${file}.tmp`},
  });
  await rename(`${file}.tmp`, file);
}

const outdir = join(ROOT, 'dist');
await rm(outdir, {recursive: true, force: true});
await mkdir(outdir, {recursive: true});
await Promise.all([bundle(outdir), writeManifest(outdir)]);
await writeBytecode(outdir);
