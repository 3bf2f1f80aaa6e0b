// Bytes of files in, pods and everything wrong with them out. Positions are looked up only where there is a problem.
import type {ManifestPosition, ManifestProblem} from '../core/errors.js';
import {withClassOverhead} from '../core/pod/runtime-class-overhead.js';
import {podKey} from '../core/pod/types.js';
import type {Companions, SourcedPod} from '../core/source-mux.js';
import {missingReferences} from './companions.js';
import {splitDocuments, type DocumentText} from './documents.js';
import {interpretObject, type Findings, type FoundObject, type FoundPod} from './interpret.js';
import {looksLikeJson, parseJson} from './json.js';
import {fieldLocator, positionOfOffset, type FieldLocator} from './locate.js';
import {ManifestSyntaxError, type ParsedText} from './syntax.js';
import {decodeManifestBytes, UnreadableTextError} from './text.js';
import {
  joinPath,
  type InterpretOptions,
  type ManifestFile,
  type ManifestSet,
  type ObjectPlace,
  type RawProblem,
  type SkippedObject,
} from './types.js';
import {parseYaml} from './yaml.js';

/** Reads all documents of all files. Of pods with one name the first counts, in the order of the files given. */
export function readManifestTexts(files: readonly ManifestFile[], options: InterpretOptions): ManifestSet {
  const findings: Findings = {pods: [], configMaps: [], secrets: [], runtimeClasses: [], skipped: [], problems: []};
  for (const file of files) readFile(file, options, findings);
  const companions = {
    configMaps: firstOfEach('ConfigMap', findings.configMaps, findings),
    secrets: firstOfEach('Secret', findings.secrets, findings),
    runtimeClasses: firstOfEach('RuntimeClass', findings.runtimeClasses, findings),
  };
  if (options.requireReferences) reportMissing(findings, companions);
  const found = findings.pods.map(each => withOverhead(each, companions, findings));
  const broken = new Set(findings.problems.filter(({severity}) => severity === 'error').map(({place}) => place.file));
  const pods = firstOfEachPod(
    found.filter(({place}) => !broken.has(place.file)),
    findings,
  );
  return {
    pods,
    companions,
    skipped: findings.skipped.map(describeSkipped),
    problems: locateProblems(findings.problems),
    brokenFiles: [...broken],
    files: files.map(({file}) => file),
  };
}

function readFile(source: ManifestFile, options: InterpretOptions, findings: Findings): void {
  const {file, isFile} = source;
  const documents = readDocuments(source, findings);
  if (documents === undefined) return;
  let isEmpty = true;
  for (const document of documents) {
    const place = {file, isFile, document, path: ''};
    const parsed = parseDocument(place, findings);
    if (parsed?.value !== null) isEmpty = false;
    if (parsed === undefined || parsed.value === null) continue;
    reportDuplicates(parsed, place, options, findings);
    interpretObject(parsed.value, place, options, findings);
  }
  // A file that is being written is empty for a moment: no reason to take it for one without pods.
  if (isEmpty) findings.problems.push(fileProblem(file, 'is empty: there is no object in it'));
}

function readDocuments({file, bytes}: ManifestFile, findings: Findings): readonly DocumentText[] | undefined {
  try {
    return splitDocuments(decodeManifestBytes(bytes));
  } catch (error) {
    if (!(error instanceof UnreadableTextError)) throw error;
    findings.problems.push(fileProblem(file, error.message));
    return undefined;
  }
}

/** undefined after a syntax error, which has been collected. */
function parseDocument(place: ObjectPlace, findings: Findings): ParsedText | undefined {
  const {text, isBare} = place.document;
  try {
    return isBare && looksLikeJson(text) ? parseJson(text) : parseYaml(text);
  } catch (error) {
    if (!(error instanceof ManifestSyntaxError)) throw error;
    findings.problems.push({
      type: 'Syntax',
      path: '',
      detail: error.message,
      place,
      severity: 'error',
      offset: error.offset,
    });
    return undefined;
  }
}

function reportDuplicates(
  {duplicates}: ParsedText,
  place: ObjectPlace,
  {validate}: InterpretOptions,
  findings: Findings,
): void {
  if (validate === 'ignore') return;
  for (const {path, offset} of duplicates) {
    findings.problems.push({
      type: 'FieldValueDuplicate',
      path,
      detail: 'is set before in the same mapping; Kubernetes would silently use this one',
      place,
      severity: validate === 'strict' ? 'error' : 'warning',
      offset,
    });
  }
}

/** A problem of a file as a whole. */
function fileProblem(file: string, detail: string): RawProblem {
  const document = {text: '', firstLine: 0, isBare: true};
  return {type: 'Syntax', path: '', detail, place: {file, isFile: true, document, path: ''}, severity: 'error'};
}

function firstOfEach<T extends {readonly metadata?: {readonly name?: string; readonly namespace?: string}}>(
  kind: string,
  found: readonly FoundObject<T>[],
  findings: Findings,
): readonly T[] {
  const first = new Map<string, FoundObject<T>>();
  for (const entry of found) {
    const {name = '', namespace} = entry.object.metadata ?? {};
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, entry);
    else findings.problems.push(duplicateOf(`${kind} ${key}`, entry.place, earlier.place));
  }
  return [...first.values()].map(({object}) => object);
}

function firstOfEachPod(found: readonly FoundPod[], findings: Findings): readonly SourcedPod[] {
  const first = new Map<string, FoundPod>();
  for (const entry of found) {
    const key = podKey(entry.pod.metadata);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, entry);
    else findings.problems.push(duplicateOf(`pod ${key}`, entry.place, earlier.place));
  }
  return [...first.values()].map(({pod, place}) => ({pod, position: positionOfObject(place)}));
}

/** Differs from kubelet: there the last file wins and nothing is said (docs/parity.md). */
function duplicateOf(what: string, place: ObjectPlace, earlier: ObjectPlace): RawProblem {
  const {file, line} = positionOfObject(earlier);
  return {
    type: 'FieldValueDuplicate',
    path: 'metadata.name',
    detail: `${what} is defined before in ${file}:${line ?? 1}; this definition is not used`,
    place,
    severity: 'warning',
  };
}

/** Only now: the class may stand anywhere. The pod's uid, made of what its own manifest says, stays. */
function withOverhead(found: FoundPod, {runtimeClasses}: Companions, {problems}: Findings): FoundPod {
  const {place, overheadPath: path} = found;
  const result = withClassOverhead(found.pod, runtimeClasses);
  if (result.ok) return {...found, pod: result.pod};
  problems.push({type: 'FieldValueForbidden', path, detail: result.problem, place, severity: 'error'});
  return found;
}

function reportMissing({pods, problems}: Findings, companions: Companions): void {
  for (const {pod, place, references} of pods) {
    for (const error of missingReferences(references, pod.metadata.namespace, companions)) {
      problems.push({...error, place, severity: 'error'});
    }
  }
}

function describeSkipped({kind, apiVersion, name, place}: Findings['skipped'][number]): SkippedObject {
  const note = `${kind}${name === '' ? '' : ` ${name}`} is left out: only pods are run here, and what they refer to`;
  return {kind, apiVersion, name, note, position: positionOfObject(place)};
}

/** The first line that says something of the object's document; of an item of a list its path, too. */
function positionOfObject({file, document, path}: ObjectPlace): ManifestPosition {
  const lines = document.text.split(/\r\n|\n|\r/);
  const ahead = lines.findIndex(line => !/^(?:\s*(?:#.*)?|%.*|---\s*(?:#.*)?)$/.test(line));
  return {file, line: document.firstLine + Math.max(ahead, 0), ...(path !== '' && {path})};
}

/** Nobody reads more of one file, and each costs a search. */
const MAX_PROBLEMS_OF_A_FILE = 100;

/** Each with its line and column. What the replicas of a workload have in common is said once. */
function locateProblems(problems: readonly RawProblem[]): readonly ManifestProblem[] {
  const locators = new Map<DocumentText, FieldLocator>();
  const locatorOf = (document: DocumentText): FieldLocator => {
    const locator = locators.get(document) ?? fieldLocator(document.text);
    locators.set(document, locator);
    return locator;
  };
  return limitPerFile(distinct(problems)).map(problem => locate(problem, locatorOf));
}

function distinct(problems: readonly RawProblem[]): readonly RawProblem[] {
  const keyOf = ({place, path, type, detail, offset}: RawProblem): string =>
    [place.file, place.document.firstLine, place.path, path, type, detail, offset ?? ''].join('\n');
  return [...new Map(problems.map(problem => [keyOf(problem), problem])).values()];
}

function limitPerFile(problems: readonly RawProblem[]): readonly RawProblem[] {
  const counts = new Map<string, number>();
  const kept = problems.filter(({place: {file}}) => {
    const count = (counts.get(file) ?? 0) + 1;
    counts.set(file, count);
    return count <= MAX_PROBLEMS_OF_A_FILE;
  });
  const rest = [...counts].filter(([, count]) => count > MAX_PROBLEMS_OF_A_FILE);
  return [
    ...kept,
    ...rest.map(([file, count]) => fileProblem(file, `has ${count - MAX_PROBLEMS_OF_A_FILE} more problems`)),
  ];
}

function locate(
  {place, severity, offset, ...error}: RawProblem,
  locatorOf: (document: DocumentText) => FieldLocator,
): ManifestProblem {
  const path = offset === undefined ? joinPath(place.path, error.path) : error.path;
  const {document, file} = place;
  const position =
    document.firstLine === 0
      ? {}
      : positionOfOffset(document.text, offset ?? locatorOf(document).offsetOf(path), document.firstLine);
  return {...error, path, severity, position: {file, ...position, ...(path !== '' && {path})}};
}
