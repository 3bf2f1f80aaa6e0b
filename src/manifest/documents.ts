// Cuts a file into its YAML documents before any of them is read: a document that is broken must not hide the others,
// and the kubelet never looks behind the first.

/** One document of a file. Lines count from 1. */
export interface DocumentText {
  readonly text: string;
  /** Line of the file that the text begins in; it begins at column 1. */
  readonly firstLine: number;
  /** The file's first document, without a `---` before it: the kubelet reads it as JSON if it begins with `{`. */
  readonly isBare: boolean;
}

/** `---` and `...` mean this at the start of a line, wherever it stands: inside a quoted text they are an error. */
const MARKER = /^(---|\.\.\.)(?=[ \t\r\n]|$)/;

/** The documents in order; leading comments and directives belong to the document behind them. */
export function splitDocuments(text: string): readonly DocumentText[] {
  const documents: DocumentText[] = [];
  let current = newDocument(1);
  const finish = (nextLine: number): void => {
    // Directives that nothing follows are an error to be found, not nothing.
    if (current.isDocument || /^%/m.test(current.text)) {
      documents.push({
        text: current.text,
        firstLine: current.firstLine,
        isBare: documents.length === 0 && !current.marked,
      });
    }
    current = newDocument(nextLine);
  };
  let line = 0;
  for (const [content] of text.matchAll(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g)) {
    line++;
    const marker = MARKER.exec(content)?.[1];
    if (marker === '---') {
      if (current.isDocument) finish(line);
      current.marked = true;
      current.isDocument = true;
    } else if (marker === undefined && !/^(?:#.*|%.*|\s*)$/.test(content.trimEnd())) {
      current.isDocument = true;
    }
    current.text += content;
    if (marker === '...') finish(line + 1);
  }
  finish(line + 1);
  return documents;
}

interface OpenDocument {
  text: string;
  readonly firstLine: number;
  marked: boolean;
  /** Something but comments and directives has been seen. */
  isDocument: boolean;
}

function newDocument(firstLine: number): OpenDocument {
  return {text: '', firstLine, marked: false, isDocument: false};
}
