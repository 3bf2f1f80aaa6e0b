/** The `code` of an error, e.g. ENOENT of a system call or ABORT_ERR; undefined = it has none that is a word. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
