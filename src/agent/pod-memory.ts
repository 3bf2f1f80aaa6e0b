// What the agent keeps of each pod from one sync to the next, and forgets with the pod.
import {Bases} from '../lib/bases.js';
import type {KeySet} from '../lib/key-set.js';
import {CrashLoopTable} from './crash-loop.js';
import {PodVersions} from './pod-versions.js';
import {ReasonCache} from './reason-cache.js';

export class PodMemory {
  readonly crashLoop: CrashLoopTable;
  readonly reasons = new ReasonCache();
  /** Of what probes have published. */
  readonly probeVersions = new PodVersions();
  /** What there was when a sync found nothing to do. */
  readonly settled = new Bases();

  /** Longest wait between restarts, ms. */
  constructor(crashLoopMaxMs: number) {
    this.crashLoop = new CrashLoopTable(crashLoopMaxMs);
  }

  /** Forgets all pods but these. */
  keepOnly(kept: KeySet): void {
    for (const table of [this.crashLoop, this.reasons, this.probeVersions, this.settled]) table.keepOnly(kept);
  }
}
