// Equality of plain data.

/** Whether two JSON-like values are equal; an absent field equals an undefined one. bigint compares by value. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) return equalLists(left, right);
  const a = left as Readonly<Record<string, unknown>>;
  const b = right as Readonly<Record<string, unknown>>;
  return (
    Object.keys(a).every(key => deepEqual(a[key], b[key])) &&
    Object.keys(b).every(key => key in a || b[key] === undefined)
  );
}

function equalLists(left: unknown, right: unknown): boolean {
  return (
    Array.isArray(left) &&
    Array.isArray(right) &&
    left.length === right.length &&
    left.every((item, index) => deepEqual(item, right[index]))
  );
}
