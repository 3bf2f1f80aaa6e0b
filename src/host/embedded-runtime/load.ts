// Loads image archives (OCI layout or docker save) into the embedded runtime, through containerd's own client.
import {access} from 'node:fs/promises';
import {HostError, UsageError} from '../../core/errors.js';
import {findExecutable, runCommand} from '../run-command.js';
import {daemonState} from './daemon.js';
import type {EmbeddedRuntimeDeps} from './deps.js';
import {embeddedEndpoint, runtimePaths, type RuntimePaths} from './paths.js';
import {requireRunning} from './status.js';

/**
 * Loads the images of an archive and answers their names. Rejects with UsageError when there is no such file, with HostError
 * when the runtime does not run or the archive is not one of images.
 */
export async function loadImage(
  deps: EmbeddedRuntimeDeps,
  rootDir: string,
  archive: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await access(archive).catch((error: unknown) => {
    throw new UsageError(`${archive} cannot be read`, {cause: error});
  });
  const paths = runtimePaths(rootDir);
  requireRunning(await daemonState(paths), paths);
  const ctr = findExecutable('ctr');
  if (ctr === null) throw new HostError('there is no ctr on this host', {hint: 'apt-get install containerd'});
  return importArchive({deps, paths, ctr, archive, signal});
}

/** The line that names an image: ctr 1.x says `unpacking NAME (DIGEST)...done`, ctr 2.x `NAME <tab> saved`. */
const IMPORTED = /^(?:unpacking )?(?<name>\S+)\s+(?:\(sha256:|saved\s*$)/;

/** The names CRI knows the images by. Resolves when CRI knows them: it hears of imports a moment later. */
export async function importArchive(input: {
  readonly deps: EmbeddedRuntimeDeps;
  readonly paths: RuntimePaths;
  readonly ctr: string;
  readonly archive: string;
  readonly signal: AbortSignal;
}): Promise<readonly string[]> {
  const {deps, paths, ctr, archive, signal} = input;
  const args = ['--address', paths.socket, '--namespace', 'k8s.io', 'images', 'import', archive];
  const {code, stdout, stderr} = await runCommand(ctr, args, {signal});
  const names = stdout.split('\n').flatMap(line => IMPORTED.exec(line)?.groups?.['name'] ?? []);
  if (code !== 0) throw new HostError(`${archive} was not loaded: ${stderr.trim()}`);
  if (names.length === 0) throw new HostError(`${archive} holds no image for this machine`);
  for (const name of names) {
    while (!(await hasImage(deps, paths, name, signal))) await deps.clock.sleep(5, signal);
  }
  return names;
}

/** Whether CRI has an image of that name. */
export async function hasImage(
  deps: EmbeddedRuntimeDeps,
  paths: RuntimePaths,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const {images, close} = deps.connect(embeddedEndpoint(paths.rootDir));
  try {
    return (await images.imageStatus(name, signal)).image !== undefined;
  } finally {
    close();
  }
}
