// Would a kubelet take this file, and as what: its file source to the letter. One document, Pods only, unknown fields and
// earlier duplicate keys dropped, references to API objects refused, and of two files with one pod the last one wins.
// Mirrors kubelet v1.36 pkg/kubelet/config/common.go tryDecodeSinglePod and file.go extractFromDir.
import type {FieldError} from '../core/errors.js';
import {apiReferences} from '../core/pod/api-references.js';
import {decodeObject} from '../core/pod/decode.js';
import {isManifestMap, type ManifestMap, type ManifestValue} from '../core/pod/decode-value.js';
import {makeStaticPod, NAME_IS_NEEDED, type StaticPodOrigin} from '../core/pod/static-pod.js';
import {podKey, type Pod} from '../core/pod/types.js';
import {validatePod} from '../core/pod/validate.js';
import {splitDocuments} from './documents.js';
import {looksLikeJson, parseJson} from './json.js';
import {ManifestSyntaxError} from './syntax.js';
import {decodeManifestBytes, UnreadableTextError} from './text.js';
import {parseYaml} from './yaml.js';

/** parse: no Pod could be decoded; name: it has none; validation, apiReference: the Pod is refused. */
type RefusalClass = 'parse' | 'name' | 'validation' | 'apiReference';

export type KubeletVerdict =
  | {readonly taken: true; readonly pod: Pod}
  | {
      readonly taken: false;
      readonly errorClass: RefusalClass;
      /** One line, as the kubelet would log it as far as it is told here. */
      readonly error: string;
      /** What it is about, where that is fields. */
      readonly fields: readonly FieldError[];
    };

/** What a kubelet makes of the bytes of one file. `origin.source` is the file's absolute path. */
export function judgeAsKubelet(bytes: Uint8Array, origin: StaticPodOrigin): KubeletVerdict {
  const refuse = (errorClass: RefusalClass, error: string, fields: readonly FieldError[] = []): KubeletVerdict => ({
    taken: false,
    errorClass,
    error:
      errorClass === 'parse' ? `${origin.source}: couldn't parse as pod(${error}), please check config file` : error,
    fields,
  });
  const read = readPodValue(bytes);
  if ('problem' in read) return refuse('parse', read.problem);
  const {value: manifest, errors} = decodeObject('Pod', read.value);
  if (errors.length > 0) return refuse('parse', errors.map(describe).join(' '), errors);
  if ((manifest.metadata?.name ?? '') === '') return refuse('name', `invalid pod: ${NAME_IS_NEEDED}`);
  const pod = makeStaticPod(manifest, origin);
  const invalid = validatePod(pod);
  if (invalid.length > 0) return refuse('validation', `invalid pod: [${invalid.map(describe).join(' ')}]`, invalid);
  const [reference] = apiReferences(pod.spec);
  if (reference !== undefined) return refuse('apiReference', `static pods may not reference ${reference.resource}`);
  return {taken: true, pod};
}

function describe({path, detail}: FieldError): string {
  return path === '' ? detail : `${path}: ${detail}`;
}

function readPodValue(bytes: Uint8Array): {readonly value: ManifestMap} | {readonly problem: string} {
  let value: ManifestValue;
  try {
    const text = decodeManifestBytes(bytes);
    value = looksLikeJson(text) ? parseJson(text).value : parseYaml(splitDocuments(text)[0]?.text ?? '').value;
  } catch (error) {
    if (error instanceof ManifestSyntaxError || error instanceof UnreadableTextError) return {problem: error.message};
    throw error;
  }
  if (value !== null && !isManifestMap(value)) return {problem: "couldn't get version/kind"};
  const [kind, apiVersion] = ['kind', 'apiVersion'].map(key => value?.get(key) ?? '');
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') return {problem: "couldn't get version/kind"};
  if (value === null || kind === '') return {problem: "Object 'Kind' is missing"};
  if (apiVersion === '') return {problem: "Object 'apiVersion' is missing"};
  if (kind === 'Pod' && apiVersion === 'v1') return {value};
  return {problem: `a kubelet reads only Pod of v1 here, not ${kind} of ${apiVersion}`};
}

/** A file of a manifest directory, with its name in it. */
export interface DirectoryFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface JudgedDirectory {
  /** Pods in the order their files are read. */
  readonly read: readonly {readonly file: string; readonly pod: Pod}[];
  /** What is run of them, by namespace and name: the last file that defines a pod has it. */
  readonly store: readonly Pod[];
  readonly refused: readonly {
    readonly file: string;
    readonly verdict: Extract<KubeletVerdict, {readonly taken: false}>;
  }[];
}

/** What a kubelet makes of the regular files of a directory; files whose name begins with a dot do not count. */
export function judgeDirectoryAsKubelet(
  files: readonly DirectoryFile[],
  directory: string,
  nodeName: string,
): JudgedDirectory {
  const read: {file: string; pod: Pod}[] = [];
  const refused: JudgedDirectory['refused'][number][] = [];
  for (const {name, bytes} of [...files].filter(file => isManifestName(file.name)).sort(byName)) {
    const file = `${directory.replace(/\/+$/, '')}/${name}`;
    const verdict = judgeAsKubelet(bytes, {source: file, nodeName, isFile: true});
    if (verdict.taken) read.push({file, pod: verdict.pod});
    else refused.push({file, verdict});
  }
  const store = new Map(read.map(({pod}) => [podKey(pod.metadata), pod]));
  return {read, refused, store: [...store].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pod]) => pod)};
}

/** Whether a file of this name is read from a manifest directory: any name that does not begin with a dot. */
export function isManifestName(name: string): boolean {
  return !name.startsWith('.');
}

/** The order in which a directory's files are read: by the bytes of their names. */
export function byName(a: {readonly name: string}, b: {readonly name: string}): number {
  return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
}
