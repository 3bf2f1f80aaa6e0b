// Objects with more keys than others, for those that stay for long.

/**
 * What `{...base, ...more}` would be. V8 gives an object a hidden class of its own when it is spread first and new keys
 * follow: half a kilobyte each, where there are thousands. Object.assign lets equal objects share one.
 */
export function extend<A extends object, B extends object>(base: A, more: B): Omit<A, keyof B> & B {
  return Object.assign({}, base, more);
}
