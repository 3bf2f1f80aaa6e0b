// Where things are, from flags: absolute before they reach anything below the command line.
import {realpathSync} from 'node:fs';
import {hostname} from 'node:os';
import {basename, dirname, join, resolve} from 'node:path';
import {DEFAULT_ROOT_DIR} from '../core/root-dir.js';
import type {GlobalFlags} from './base-command.js';

/** The absolute root directory, links resolved: it is compared with the kernel's list of mounts. */
export function rootDirOf(flags: Pick<GlobalFlags, 'root-dir'>): string {
  const given = flags['root-dir'];
  return realDirectory(given === undefined || given === '' ? DEFAULT_ROOT_DIR : resolve(given));
}

/** Resolves what exists of a path. */
function realDirectory(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realDirectory(parent), basename(path));
  }
}

/** The node's name: lower case, as the kubelet makes it of the host's name. */
export function nodeNameOf(flags: Pick<GlobalFlags, 'node-name'>): string {
  const given = flags['node-name'];
  return (given === undefined || given === '' ? hostname() : given).trim().toLowerCase();
}
