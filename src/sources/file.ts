// The file source: the manifests of a directory, or one file, read again whenever something changes.
// Mirrors kubelet v1.36 pkg/kubelet/config/file.go and file_linux.go. Differs from kubelet: files that are being written are
// waited for, and a directory that vanishes takes no pods with it (docs/parity.md).
import type {Report} from '../core/events.js';
import type {SourceSnapshot} from '../core/source-mux.js';
import type {Clock} from '../lib/clock.js';
import {messageOf} from '../lib/error-message.js';
import {Mailbox} from '../lib/mailbox.js';
import type {LoadedManifest} from '../manifest/types.js';
import {ManifestFiles, readSignatures, type Signatures} from './manifest-files.js';
import {PathWatch, type WatchDirectory} from './path-watch.js';
import {snapshotOf, type Interpret} from './snapshot.js';

export const FILE_SOURCE = 'file';

export interface FileSourceOptions {
  /** Absolute path of a directory or a file; it need not exist yet. */
  readonly target: string;
  /** The kubelet's --file-check-frequency, ms: everything is read again this often. Default 20 s. */
  readonly checkFrequencyMs?: number;
  readonly clock: Clock;
  readonly report: Report;
  readonly interpret: Interpret;
  readonly signal: AbortSignal;
  /** Default: Node's own fs.watch. */
  readonly watch?: WatchDirectory;
}

const CHECK_FREQUENCY_MS = 20_000;
/** A file that has not changed for so long has been written to its end. */
const SETTLE_MS = 25;
/** A target that has come into sight is waited for this often: a pod whose file was left out would be ended. */
const FIRST_ROUNDS = 40;
/** How often changes are looked for when the kernel does not tell. */
const POLL_MS = 1000;

/** Why the source looks again: something may have changed, or it is time to read everything. */
type Wake = 'change' | 'check';

/**
 * A snapshot first, and another whenever the content has changed. A target that does not exist delivers nothing until it
 * does. Ends when `signal` aborts, with its reason.
 */
export async function* fileSource(options: FileSourceOptions): AsyncGenerator<SourceSnapshot, never> {
  const {clock, interpret} = options;
  const reader = new Reader(options);
  let last: SourceSnapshot | undefined;
  try {
    for (let wake: Wake = 'check'; ; wake = await reader.nextWake()) {
      const loaded = await reader.read(wake === 'check');
      if (loaded === null) continue;
      last = snapshotOf({source: FILE_SOURCE, loaded, last, now: clock.now()}, interpret);
      yield last;
    }
  } finally {
    reader.close();
  }
}

class Reader {
  readonly #options: FileSourceOptions;
  readonly #wakes = new Mailbox<null>();
  readonly #watch: PathWatch;
  readonly #files = new ManifestFiles();
  /** Of the last look that found the target. */
  #signatures: Signatures = null;
  #isPolling = false;
  /** When everything was read the last time, changed or not; monotonic. */
  #checkedAt = 0;
  #kind: 'unknown' | 'file' | 'directory' = 'unknown';
  /** Also before the first look. */
  #isMissing = true;
  #isMissingTold = false;
  /** Files that were still being written, or were just gone, when they were last looked at. */
  #unsettled: ReadonlySet<string> = new Set();

  constructor(options: FileSourceOptions) {
    this.#options = options;
    this.#watch = new PathWatch({
      target: options.target,
      onChange: () => this.#wakes.put('wake', null),
      onLimit: () => this.#poll(),
      ...(options.watch !== undefined && {watch: options.watch}),
    });
  }

  /** Everything, if that is news; null = it is not, or the target does not exist. `again`: reads also what looks unchanged. */
  async read(again: boolean): Promise<readonly LoadedManifest[] | null> {
    if (again) this.#checkedAt = this.#options.clock.monotonic();
    const wasMissing = this.#isMissing;
    if (!wasMissing) return (await this.#update(again)) ? this.#files.loaded : null;
    // A target that has just come into sight may still be filled.
    for (let round = 0; round < FIRST_ROUNDS; round++) {
      await this.#update(true);
      if (this.#unsettled.size === 0) break;
    }
    if (this.#isMissing) return null;
    return [...this.#files.loaded, ...[...this.#unsettled].map(file => ({file, problem: 'is still being written'}))];
  }

  async nextWake(): Promise<Wake> {
    const {clock, signal, checkFrequencyMs = CHECK_FREQUENCY_MS} = this.#options;
    // What is still being written is looked at again at once, and settles there.
    if (this.#unsettled.size > 0) return 'change';
    const checkIn = this.#checkedAt + checkFrequencyMs - clock.monotonic();
    const wait = this.#isPolling ? Math.min(checkIn, POLL_MS) : checkIn;
    const timer = clock.setTimer(() => this.#wakes.put('wake', null), wait);
    try {
      await this.#wakes.take(signal);
    } finally {
      timer.cancel();
    }
    return clock.monotonic() - this.#checkedAt >= checkFrequencyMs ? 'check' : 'change';
  }

  close(): void {
    this.#watch.close();
  }

  /** Whether anything differs from before. */
  async #update(again: boolean): Promise<boolean> {
    const {clock, signal} = this.#options;
    await this.#watch.ensure();
    const before = await this.#look();
    await clock.sleep(SETTLE_MS, signal);
    const now = await this.#look();
    if (now === null) return false;
    // A file that has just gone may be on its way to another name: it goes when that is there, too.
    const files = new Set([...(before?.keys() ?? []), ...now.keys()]);
    this.#unsettled = new Set([...files].filter(file => before?.get(file) !== now.get(file)));
    return this.#files.update(now, this.#unsettled, again);
  }

  /** null = nothing can be said of the target: what was there before counts on. */
  async #look(): Promise<Signatures> {
    const {target} = this.#options;
    try {
      const {files, isDirectory} = await readSignatures(target, this.#signatures);
      if (files !== null) {
        this.#signatures = files;
        this.#kind = isDirectory ? 'directory' : 'file';
        this.#setMissing(false, '');
        return files;
      }
      // A file that is deleted takes its pods with it; a directory that vanishes does not.
      if (this.#kind === 'file') return new Map();
      this.#setMissing(true, `${target} does not exist: what runs is kept until it does`);
    } catch (error) {
      this.#setMissing(true, `${target} cannot be read: ${messageOf(error)}`);
    }
    return null;
  }

  #setMissing(isMissing: boolean, message: string): void {
    const {clock, report} = this.#options;
    this.#isMissing = isMissing;
    if (isMissing) this.#unsettled = new Set();
    if (isMissing && !this.#isMissingTold) report({kind: 'notice', at: clock.now(), level: 'warning', message});
    this.#isMissingTold = isMissing;
  }

  #poll(): void {
    const {clock, report, target} = this.#options;
    if (this.#isPolling) return;
    this.#isPolling = true;
    const message = `the kernel gives no more file watches (fs.inotify.max_user_watches): ${target} is looked at every second`;
    report({kind: 'notice', at: clock.now(), level: 'warning', message});
  }
}
