// One copy of texts that are the same in thousands of objects, such as the names of images.

const CAPACITY = 1000;
const known = new Map<string, string>();

/** An equal text, the same one as the last time. */
export function intern(text: string): string {
  const same = known.get(text);
  if (same !== undefined) return same;
  if (known.size >= CAPACITY) known.clear();
  known.set(text, text);
  return text;
}
