// Brings other releases of containerd than the installed one, for the contract suite: downloads Debian's package from the
// mirror that apt is configured for and unpacks it below ~/.cache/minikubelet. Nothing is installed, and apt's own lists
// are not touched.
//
//   npx tsx scripts/fetch-containerd.ts            brings all, and says what could not be had
//   npx tsx scripts/fetch-containerd.ts --refresh  downloads again
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

/** A Debian suite and the containerd it holds. */
export interface Release {
  readonly suite: string;
  /** What is wanted of it, for messages. */
  readonly wanted: string;
}

export const RELEASES: readonly Release[] = [
  {suite: 'trixie', wanted: 'containerd 1.7 of Debian 13'},
  {suite: 'sid', wanted: 'containerd 2 of Debian sid'},
];

/** A containerd that runs on this host, or why there is none. */
export type Fetched =
  | {readonly release: Release; readonly binDir: string; readonly version: string}
  | {readonly release: Release; readonly reason: string};

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const DEFAULT_MIRROR = 'http://deb.debian.org/debian';
const APT_TIMEOUT_MS = 120_000;

/** From the cache, else from the mirror. Never throws: what cannot be had is told. */
export function fetchContainerd(release: Release, refresh = false): Fetched {
  const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'minikubelet/containerd');
  const target = path.join(cache, release.suite);
  const binDir = path.join(target, 'usr/bin');
  try {
    const cached = refresh ? null : versionOf(binDir);
    if (cached === null) download(release.suite, target);
    const version = cached ?? versionOf(binDir);
    if (version === null) return {release, reason: 'the unpacked containerd does not run on this host'};
    return {release, binDir, version};
  } catch (error) {
    return {release, reason: reasonOf(error)};
  }
}

/** Unpacks the suite's containerd package to `target`, which is replaced as a whole. */
function download(suite: string, target: string): void {
  const work = mkdtempSync(path.join(tmpdir(), `fetch-${suite}-`));
  try {
    const apt = aptIn(work, suite);
    apt('apt-get', ['update']);
    apt('apt-get', ['download', 'containerd']);
    const deb = readdirSync(work).find(name => name.endsWith('.deb'));
    if (deb === undefined) throw new Error('apt-get download brought no package');
    const unpacked = path.join(work, 'unpacked');
    execFileSync('dpkg', ['-x', path.join(work, deb), unpacked], {stdio: 'pipe'});
    mkdirSync(path.dirname(target), {recursive: true});
    rmSync(target, {recursive: true, force: true});
    moveDirectory(unpacked, target);
  } finally {
    rmSync(work, {recursive: true, force: true});
  }
}

/** apt with directories of its own, so that it knows this suite and no other. */
function aptIn(work: string, suite: string): (program: string, args: readonly string[]) => void {
  for (const dir of ['lists/partial', 'cache/archives/partial']) mkdirSync(path.join(work, dir), {recursive: true});
  writeFileSync(path.join(work, 'status'), '');
  writeFileSync(path.join(work, 'sources.list'), `deb [signed-by=${KEYRING}] ${mirror()} ${suite} main\n`);
  const options = [
    `Dir::Etc::SourceList=${work}/sources.list`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${work}/lists`,
    `Dir::State::Status=${work}/status`,
    `Dir::Cache=${work}/cache`,
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    'Acquire::Retries=0',
    'Acquire::http::Timeout=15',
    'Acquire::https::Timeout=15',
    'APT::Update::Error-Mode=any',
  ].flatMap(option => ['-o', option]);
  return (program, args) => {
    execFileSync(program, ['-q', ...options, ...args], {cwd: work, stdio: 'pipe', timeout: APT_TIMEOUT_MS});
  };
}

/** The mirror that this host's own Debian packages come from. */
function mirror(): string {
  const args = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages', 'Origin: Debian'];
  const uris = execFileSync('apt-get', args, {encoding: 'utf8', stdio: 'pipe'}).split('\n');
  return uris.find(uri => uri !== '' && !uri.includes('security')) ?? DEFAULT_MIRROR;
}

/** A cache on another file system than the temporary directory cannot be renamed into. */
function moveDirectory(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    execFileSync('cp', ['-a', from, to], {stdio: 'pipe'});
  }
}

/** null = not there, or it does not run here (its libc may be newer than the host's). */
function versionOf(binDir: string): string | null {
  try {
    const text = execFileSync(path.join(binDir, 'containerd'), ['--version'], {encoding: 'utf8', stdio: 'pipe'});
    return /\s(\d+\.\d+\S*)/.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** The first thing that apt or dpkg calls an error, else what Node says. */
function reasonOf(error: unknown): string {
  const stderr =
    error instanceof Error && 'stderr' in error && Buffer.isBuffer(error.stderr) ? error.stderr.toString() : '';
  const told = stderr.split('\n').find(line => line.startsWith('E: '));
  return told ?? (error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
}

function main(): void {
  for (const release of RELEASES) {
    const fetched = fetchContainerd(release, process.argv.includes('--refresh'));
    if ('version' in fetched) {
      console.log(`${release.wanted}: ${fetched.version} in ${fetched.binDir}`);
    } else {
      console.error(`${release.wanted}: COULD NOT BE HAD: ${fetched.reason}`);
      process.exitCode = 1;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
