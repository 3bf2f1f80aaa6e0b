// `validate --as-kubelet`: what a kubelet's file source would make of the same files, to the letter.
import {existsSync} from 'node:fs';
import {basename, resolve} from 'node:path';
import {UsageError} from '../../core/errors.js';
import {podKey} from '../../core/pod/types.js';
import {judgeAsKubelet, judgeDirectoryAsKubelet, type JudgedDirectory} from '../../manifest/as-kubelet.js';
import {loadManifestDirectory, loadManifestFile} from '../../manifest/read.js';
import type {LoadedManifest} from '../../manifest/types.js';
import {EXIT} from '../exit-codes.js';
import {toJson, toYaml, type OutputFormat} from '../output/output.js';
import {stripControl} from '../output/table.js';
import type {Session} from '../session.js';
import {directoriesOf, isLocalPath, type ManifestRequest} from './manifests.js';
import {displayPath, renderFieldError} from './render-problem.js';

type Refused = JudgedDirectory['refused'][number];

/** Prints what is taken of each path, and as what; exit code 3 when something is refused. */
export async function validateAsKubelet(
  session: Session,
  request: ManifestRequest,
  format: OutputFormat,
): Promise<void> {
  const judged: JudgedDirectory[] = [];
  for (const path of request.paths) judged.push(await judge(path, request.nodeName));
  const refused = judged.flatMap(one => one.refused);
  if (format === 'json' || format === 'yaml') {
    const document = {
      apiVersion: 'minikubelet.dev/v1',
      kind: 'KubeletReport',
      taken: judged.flatMap(one => one.read),
      run: judged.flatMap(one => one.store),
      refused: refused.map(({file, verdict: {errorClass, error, fields}}) => ({file, errorClass, error, fields})),
    };
    session.out(format === 'json' ? toJson(document) : await toYaml(document));
  } else {
    session.out(...judged.flatMap(one => (format === 'name' ? runNames(one) : verdictLines(one))));
  }
  if (refused.length > 0) process.exitCode = EXIT.manifest;
}

async function judge(path: string, nodeName: string): Promise<JudgedDirectory> {
  if (!isLocalPath(path)) {
    throw new UsageError(`${path}: only files and directories can be judged as a kubelet's file source does`);
  }
  if (!existsSync(path)) throw new UsageError(`no such file or directory: ${path}`);
  const [directory] = directoriesOf([path]);
  if (directory === undefined) return judgeFile(await loadManifestFile(resolve(path)), nodeName);
  const loaded = await loadManifestDirectory(directory);
  const files = loaded.flatMap(entry => ('bytes' in entry ? [{name: basename(entry.file), bytes: entry.bytes}] : []));
  const judged = judgeDirectoryAsKubelet(files, directory, nodeName);
  const unreadable = loaded.flatMap(entry => ('problem' in entry ? [refusedUnread(entry)] : []));
  return {...judged, refused: [...unreadable, ...judged.refused]};
}

function judgeFile(loaded: LoadedManifest, nodeName: string): JudgedDirectory {
  if ('problem' in loaded) return {read: [], store: [], refused: [refusedUnread(loaded)]};
  const {file, bytes} = loaded;
  const verdict = judgeAsKubelet(bytes, {source: file, nodeName, isFile: true});
  if (!verdict.taken) return {read: [], store: [], refused: [{file, verdict}]};
  return {read: [{file, pod: verdict.pod}], store: [verdict.pod], refused: []};
}

function refusedUnread({file, problem}: {readonly file: string; readonly problem: string}): Refused {
  return {file, verdict: {taken: false, errorClass: 'parse', error: problem, fields: []}};
}

function runNames({store}: JudgedDirectory): readonly string[] {
  return store.map(pod => `pod/${pod.metadata.name}`);
}

/** One line a file: taken, taken but overruled by a later file with the same pod, or refused and why. */
function verdictLines({read, store, refused}: JudgedDirectory): readonly string[] {
  const winners = new Set(store);
  const taken = read.map(({file, pod}) => {
    const fate = winners.has(pod)
      ? `taken as pod ${podKey(pod.metadata)}`
      : `taken, but a later file has pod ${podKey(pod.metadata)} too`;
    return {file, text: fate};
  });
  const not = refused.map(({file, verdict}) => ({file, text: `refused (${verdict.errorClass}): ${whyOf(verdict)}`}));
  return [...taken, ...not]
    .toSorted((left, right) => (left.file < right.file ? -1 : 1))
    .map(({file, text}) => stripControl(`${displayPath(file)}: ${text}`).replaceAll('\n', ' '));
}

function whyOf({fields, error}: Refused['verdict']): string {
  return fields.length === 0 ? error : fields.map(renderFieldError).join('; ');
}
