// Remembers what a pure function made of an immutable object, for as long as the object lives.

/** `compute`, called once an object. The objects must never change: pods are plain data that is replaced, not edited. */
export function memoizeByIdentity<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, {readonly value: V}>();
  return key => {
    const hit = known.get(key);
    if (hit !== undefined) return hit.value;
    const value = compute(key);
    known.set(key, {value});
    return value;
  };
}
