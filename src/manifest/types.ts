// What reading manifests gives: plain data, every file's findings at once.
import type {FieldError, ManifestPosition, ManifestProblem} from '../core/errors.js';
import type {Companions, SourcedPod} from '../core/source-mux.js';
import type {DocumentText} from './documents.js';

/** What becomes of fields that Kubernetes does not know and of keys that come twice: errors, warnings, or nothing. */
export type ValidateMode = 'strict' | 'warn' | 'ignore';

/** A manifest's bytes and where they are from. */
export interface ManifestFile {
  /** Absolute path, URL or key: names the file in messages and is part of its pods' uids. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** Only pods of files tolerate every NoExecute taint, those of URLs and other sources do not. */
  readonly isFile: boolean;
}

/** A manifest, or why its bytes cannot be had. */
export type LoadedManifest = ManifestFile | {readonly file: string; readonly problem: string};

export interface InterpretOptions {
  readonly nodeName: string;
  readonly validate: ValidateMode;
  /**
   * Whether a ConfigMap or Secret that a pod cannot do without must be among the files. Where more may come from another
   * source, the pod waits instead.
   */
  readonly requireReferences: boolean;
  /** Where what names no namespace is; naming another one is an error then, as for kubectl. Not given: `default`, and any may be named. */
  readonly namespace?: string;
}

/** A document that is none of ours to run, e.g. a Service. */
export interface SkippedObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly position: ManifestPosition;
  /** One line: what was left out and why. */
  readonly note: string;
}

export interface ManifestSet {
  /**
   * Pods to run, in the order of files and documents. Of two with one name the first is here. None is from a file that
   * has an error: what ran of that file before stays as it is.
   */
  readonly pods: readonly SourcedPod[];
  /** Those of broken files too, as far as they themselves can be read. */
  readonly companions: Companions;
  readonly skipped: readonly SkippedObject[];
  /** Errors and warnings of all files. */
  readonly problems: readonly ManifestProblem[];
  /** Files with at least one error, as named in positions. */
  readonly brokenFiles: readonly string[];
  /** All files that were read. */
  readonly files: readonly string[];
}

/** One object of a document while it is read: the document itself, or an item of a list in it. */
export interface ObjectPlace {
  readonly file: string;
  readonly isFile: boolean;
  readonly document: DocumentText;
  /** Field path of the object in its document, e.g. items[2]; '' = the document. */
  readonly path: string;
}

/** A problem before its line is looked for. `path` is relative to the object. */
export interface RawProblem extends FieldError {
  readonly place: ObjectPlace;
  readonly severity: ManifestProblem['severity'];
  /** Known already, e.g. of a syntax error; else the path is looked up. */
  readonly offset?: number;
}

/** Joins the path of an object and a path inside it. */
export function joinPath(outer: string, inner: string): string {
  if (outer === '' || inner === '') return outer + inner;
  return inner.startsWith('[') ? outer + inner : `${outer}.${inner}`;
}
