// Stands in the bundle for packages that oclif's core loads at its start and that our way through it never calls: globs and
// files for finding commands and plugins, and the check of Node's version, which npm has made at installation. Evaluating
// the real ones would be a quarter of `minikubelet --version`.

/** Loud if the way ever changes. */
function neverCalled(): never {
  throw new Error('a package that was left out of the bundle is needed: see scripts/never-called.ts');
}

export {neverCalled as glob, neverCalled as lilconfig, neverCalled as minimatch, neverCalled as satisfies};
