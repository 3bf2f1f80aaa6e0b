/** The root directory unless told otherwise. In a module of its own, since every command starts with it. */
export const DEFAULT_ROOT_DIR = '/var/lib/minikubelet';
