// Scans YAML with js-yaml where that is stricter than the kubelet's libyaml: brackets and quotes may continue at any
// column ("]" below the key is common), and tabs may stand between tokens. And where js-yaml is laxer: YAML 1.1 only.
import {EVENT_ID, parseEvents, YAMLException, type Event} from 'js-yaml';
import {ManifestSyntaxError, MAX_DEPTH} from './syntax.js';

export interface ScannedYaml {
  readonly events: readonly Event[];
  /** The text that the events' offsets refer to. */
  readonly text: string;
  /** Where such an offset is in the text that was given. */
  readonly originalOffset: (offset: number) => number;
}

const TOO_SHALLOW = 'deficient indentation';
/** Deeper than any key can be, so that one insertion a line is enough. */
const INDENTATION = ' '.repeat(MAX_DEPTH);
/** Lines that are indented for js-yaml before giving up; each costs another scan, so that long texts get fewer. */
const MAX_REPAIRS = 300;
const MAX_RESCANNED = 5_000_000;

/** Scans one document. Throws ManifestSyntaxError with an offset into `text`. */
export function scanYaml(text: string): ScannedYaml {
  const insertions: number[] = [];
  const originalOffset = (offset: number): number =>
    insertions.reduceRight(
      (at, inserted) => (at <= inserted ? at : Math.max(inserted, at - INDENTATION.length)),
      offset,
    );
  checkDirectives(text);
  let patched = text;
  const maxRepairs = Math.min(MAX_REPAIRS, Math.ceil(MAX_RESCANNED / (text.length + 1)));
  for (let repairs = 0; ; repairs++) {
    try {
      const events = parseEvents(patched, {maxDepth: MAX_DEPTH});
      checkVersion(events);
      return {events, text: patched, originalOffset};
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      const offset = error.mark?.position ?? 0;
      const repaired =
        error.reason === TOO_SHALLOW && repairs < maxRepairs ? repairAt(patched, offset, insertions) : undefined;
      if (repaired === undefined) throw new ManifestSyntaxError(error.reason, originalOffset(offset));
      patched = repaired;
    }
  }
}

/** White space that means nothing inside brackets and quotes, made to js-yaml's liking; undefined if nothing can be done. */
function repairAt(text: string, offset: number, insertions: number[]): string | undefined {
  const lineStart = Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  const before = text.slice(lineStart, offset);
  if (before.trim() === '') {
    if (before.startsWith(INDENTATION) || /^(?:---|\.\.\.)(?:\s|$)/.test(text.slice(lineStart, lineStart + 4)))
      return undefined;
    insertions.push(lineStart);
    return text.slice(0, lineStart) + INDENTATION + text.slice(lineStart);
  }
  const tab = before.lastIndexOf('\t');
  if (tab < 0) return undefined;
  return `${text.slice(0, lineStart + tab)} ${text.slice(lineStart + tab + 1)}`;
}

function checkDirectives(text: string): void {
  for (const directive of text.matchAll(/^(?:#.*|%(.*))?(?:\r\n|\n|\r)/gmy)) {
    const name = /^\S*/.exec(directive[1] ?? 'YAML')?.[0];
    if (name !== 'YAML' && name !== 'TAG')
      throw new ManifestSyntaxError('found unknown directive name', directive.index);
  }
}

function checkVersion(events: readonly Event[]): void {
  const [document] = events;
  if (document?.type !== EVENT_ID.DOCUMENT) return;
  for (const directive of document.directives) {
    if (directive.kind === 'yaml' && directive.version !== '1.1') {
      throw new ManifestSyntaxError(`YAML ${directive.version} is not supported: Kubernetes reads YAML 1.1`, 0);
    }
  }
}
