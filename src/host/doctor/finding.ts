// One line of what doctor says.

export interface Finding {
  /** Short and fixed, e.g. "cni-config". */
  readonly check: string;
  /** unknown: it could not be looked at, and the message says why. */
  readonly level: 'ok' | 'warning' | 'error' | 'unknown';
  /** One line without trailing period. */
  readonly message: string;
  /** What to do; '' = nothing. */
  readonly remedy: string;
}

/** A finding that all is well. */
export function fine(check: string, message: string): Finding {
  return {check, level: 'ok', message, remedy: ''};
}
