// Where things are, from flags: absolute before they reach anything below the command line.
import {hostname} from 'node:os';
import {resolve} from 'node:path';
import {DEFAULT_ROOT_DIR} from '../agent/config.js';
import type {GlobalFlags} from './base-command.js';

/** The absolute root directory. */
export function rootDirOf(flags: Pick<GlobalFlags, 'root-dir'>): string {
  const given = flags['root-dir'];
  return given === undefined || given === '' ? DEFAULT_ROOT_DIR : resolve(given);
}

/** The node's name: lower case, as the kubelet makes it of the host's name. */
export function nodeNameOf(flags: Pick<GlobalFlags, 'node-name'>): string {
  const given = flags['node-name'];
  return (given === undefined || given === '' ? hostname() : given).trim().toLowerCase();
}
