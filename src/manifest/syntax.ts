// What the YAML and JSON readers share: how they fail, and what they report beside the value.
import type {ManifestValue} from '../core/pod/decode-value.js';

/** Text that is no manifest. `offset` is a UTF-16 index into the document's text. */
export class ManifestSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'ManifestSyntaxError';
    this.offset = offset;
  }
}

/** A key that was set before in the same mapping. The later one is in the value, as with Go. */
export interface DuplicateKey {
  /** Field path of the key, e.g. spec.containers[0].image. */
  readonly path: string;
  readonly offset: number;
}

export interface ParsedText {
  readonly value: ManifestValue;
  readonly duplicates: readonly DuplicateKey[];
}

/** Deeper nesting is refused: no manifest needs it, and recursion must end. */
export const MAX_DEPTH = 500;

/** A step from a value to one inside it: a mapping's key or a list's index. */
export type PathStep = string | number;

/** Field path as Kubernetes prints it: names joined by dots, brackets around indexes and names that hold dots. */
export function pathText(steps: readonly PathStep[]): string {
  let text = '';
  for (const step of steps) {
    if (typeof step === 'number' || /[.[\]]/.test(step)) text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
