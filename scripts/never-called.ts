// Stands in the bundle for packages that our way through their users never calls. Of oclif's core: globs and files for finding
// commands and plugins, and the check of Node's version, which npm has made at installation; evaluating the real ones would
// be a quarter of `minikubelet --version`. Of grpc-js: the reader of .proto files, for a service that shows its channels.

/** Loud if the way ever changes. */
function neverCalled(): never {
  throw new Error('a package that was left out of the bundle is needed: see scripts/never-called.ts');
}

/** Of wsl-utils: oclif would read files to find out whether this is Windows; our way does not use the answer. */
export const isWsl = false;

export {
  neverCalled as glob,
  neverCalled as lilconfig,
  neverCalled as minimatch,
  neverCalled as powerShellPath,
  neverCalled as satisfies,
};
