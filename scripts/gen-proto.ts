// Makes src/cri/gen from proto/ with the tools in node_modules: no network, no protoc. The result is checked in;
// `npm run gen:proto -- --check` fails when it is not what proto/ says.
import {execFileSync} from 'node:child_process';
import {cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROTO = path.join(ROOT, 'proto');
const GENERATED = path.join(ROOT, 'src/cri/gen');

/** Generates into a fresh directory and returns the text of each file by name. */
export function generate(): ReadonlyMap<string, string> {
  // Inside the project, so that buf finds the plugin where proto/buf.gen.yaml says.
  const work = mkdtempSync(path.join(ROOT, 'node_modules/.gen-proto-'));
  try {
    const template = path.join(work, 'buf.gen.yaml');
    writeFileSync(template, templateFor(path.join(work, 'out')));
    cpSync(PROTO, path.join(work, 'proto'), {recursive: true});
    execFileSync(path.join(ROOT, 'node_modules/.bin/buf'), ['generate', '--template', template], {
      cwd: path.join(work, 'proto'),
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const out = path.join(work, 'out');
    return new Map(readdirSync(out).map(file => [file, readFileSync(path.join(out, file), 'utf8')]));
  } finally {
    rmSync(work, {recursive: true, force: true});
  }
}

/** Names of generated files that differ from what proto/ says, missing and superfluous ones included. */
export function staleFiles(fresh: ReadonlyMap<string, string>): readonly string[] {
  const present = readdirSync(GENERATED);
  const names = new Set([...fresh.keys(), ...present]);
  return [...names].filter(
    name => !present.includes(name) || readFileSync(path.join(GENERATED, name), 'utf8') !== fresh.get(name),
  );
}

function templateFor(out: string): string {
  return readFileSync(path.join(PROTO, 'buf.gen.yaml'), 'utf8')
    .replace('../src/cri/gen', out)
    .replace('../node_modules', path.join(ROOT, 'node_modules'));
}

function main(): void {
  const fresh = generate();
  const stale = staleFiles(fresh);
  if (process.argv.includes('--check')) {
    if (stale.length > 0) {
      console.error(`src/cri/gen is not what proto/ says (run npm run gen:proto): ${stale.join(', ')}`);
      process.exitCode = 1;
    }
    return;
  }
  for (const name of stale) {
    const text = fresh.get(name);
    if (text === undefined) rmSync(path.join(GENERATED, name));
    else writeFileSync(path.join(GENERATED, name), text);
  }
  console.log(stale.length === 0 ? 'src/cri/gen is up to date' : `wrote ${stale.join(', ')}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
