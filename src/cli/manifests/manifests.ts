// Manifests as the command line names them: by position and by -f, all read before anything is done.
import {statSync} from 'node:fs';
import {resolve} from 'node:path';
import {ManifestError, UsageError, type ManifestProblem} from '../../core/errors.js';
import type {ManifestSet, ValidateMode} from '../../manifest/types.js';
import type {Session} from '../session.js';
import {renderPosition, renderProblem} from './render-problem.js';

export interface ManifestRequest {
  /** As given; at least one. */
  readonly paths: readonly string[];
  readonly nodeName: string;
  readonly validate: ValidateMode;
  /** -n: the namespace of what names none; nothing may name another one. */
  readonly namespace?: string | undefined;
  /** Whether a ConfigMap or Secret that a pod needs must be among the manifests. Default true. */
  readonly requireReferences?: boolean;
}

/** Paths by position, then by -f. Throws UsageError when there are none. */
export function pathsOf(
  args: {readonly path?: readonly string[] | undefined},
  filenames: readonly string[] = [],
): readonly string[] {
  const paths = [...(args.path ?? []), ...filenames];
  if (paths.length > 0) return paths;
  throw new UsageError('no manifests are named', {hint: 'give a file, a directory, a URL, or - for standard input'});
}

/** Reads all paths. Rejects with UsageError for one that does not exist; what is wrong with manifests is in the answer. */
export async function loadManifests(session: Session, request: ManifestRequest): Promise<ManifestSet> {
  const {readManifests} = await import('../../manifest/read.js');
  const {nodeName, validate, paths, requireReferences = true, namespace} = request;
  const set = await readManifests(paths, {
    nodeName,
    validate,
    requireReferences,
    readStdin,
    signal: session.signal,
    ...(namespace !== undefined && {namespace}),
  });
  for (const {position, note} of set.skipped) session.err(`${renderPosition(position)}: ${note}`);
  return set;
}

/** Prints warnings; throws ManifestError with every error of every file, unless the rest is to be done nevertheless. */
export function refuseBroken(session: Session, problems: readonly ManifestProblem[], keepGoing: boolean): void {
  const broken = problems.some(problem => problem.severity === 'error');
  if (broken && !keepGoing) {
    throw new ManifestError(problems, {hint: 'nothing was changed; --keep-going applies the manifests that are right'});
  }
  session.err(...problems.map(renderProblem));
}

/** The absolute directories among the paths: what apply prunes. */
export function directoriesOf(paths: readonly string[]): readonly string[] {
  return paths.filter(path => isLocalPath(path) && isDirectory(path)).map(path => resolve(path));
}

/** A file or directory, not standard input or a URL. */
export function isLocalPath(path: string): boolean {
  return path !== '-' && !/^https?:\/\//.test(path);
}

function isDirectory(path: string): boolean {
  return statSync(path, {throwIfNoEntry: false})?.isDirectory() === true;
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
