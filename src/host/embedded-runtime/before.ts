// What of the machine was missing before the embedded runtime came. CNI and containerd make directories and iptables chains
// that belong to nobody in particular; stop removes again those that were not there, once they are empty.
import {existsSync} from 'node:fs';
import {mkdir, readFile, rm, rmdir, writeFile} from 'node:fs/promises';
import {mustRun, findExecutable} from '../run-command.js';
import {chainsOf, tablesOf} from './iptables.js';
import type {RuntimePaths} from './paths.js';

export interface Before {
  /** Directories that did not exist. Children before parents. */
  readonly missingDirs: readonly string[];
  /** iptables tables and chains that existed: "nat", "nat CNI-HOSTPORT-DNAT". */
  readonly tables: readonly string[];
  readonly chains: readonly string[];
}

/** Outside the root directory, made by containerd's shims and by CNI whatever they are told. */
const SHARED_DIRS = [
  '/var/lib/cni/results',
  '/var/lib/cni/networks',
  '/var/lib/cni',
  '/run/netns',
  '/run/containerd/s',
  '/run/containerd/runc/k8s.io',
  '/run/containerd/runc',
  '/run/containerd',
];

/** Notes the state of the machine before the first start; a later start keeps that note. */
export async function rememberBefore(paths: RuntimePaths): Promise<void> {
  if (existsSync(paths.before)) return;
  const rules = await savedRules();
  const before: Before = {
    missingDirs: SHARED_DIRS.filter(dir => !existsSync(dir)),
    tables: tablesOf(rules),
    chains: chainsOf(rules),
  };
  await mkdir(paths.dir, {recursive: true, mode: 0o711});
  await writeFile(paths.before, `${JSON.stringify(before)}\n`, {mode: 0o600});
}

/** The note, or null when there is none: then nothing shared is removed. */
export async function readBefore(paths: RuntimePaths): Promise<Before | null> {
  const text = await readFile(paths.before, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as Before);
}

/** Removes the directories that were not there before and are empty, then the note. */
export async function forgetBefore(paths: RuntimePaths, before: Before | null): Promise<void> {
  for (const dir of before?.missingDirs ?? []) await rmdir(dir).catch(() => undefined);
  await rm(paths.before, {force: true});
}

/** Text of iptables-save; '' where there is no iptables. */
export async function savedRules(): Promise<string> {
  return findExecutable('iptables-save') === null ? '' : mustRun('iptables-save', []);
}
