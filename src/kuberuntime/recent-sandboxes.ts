// What the runtime said of sandboxes a moment ago. A new one is asked about for its addresses, and again as soon as its first
// container runs: nothing of it has changed by then, and what does change comes as an event or with the next list.
// Differs from kubelet: it asks again (docs/parity.md).
import type {PodSandboxStatus} from '../cri/gen/cri.js';
import type {Clock} from '../lib/clock.js';

const GOOD_FOR_MS = 1000;

export class RecentSandboxes {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, {readonly status: PodSandboxStatus; readonly at: number}>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  note(status: PodSandboxStatus): void {
    const at = this.#clock.monotonic();
    for (const [id, known] of this.#known) {
      if (at - known.at < GOOD_FOR_MS) break;
      this.#known.delete(id);
    }
    this.#known.set(status.id, {status, at});
  }

  /** Good for one look; undefined = the runtime has to be asked. */
  take(id: string): PodSandboxStatus | undefined {
    const known = this.#known.get(id);
    this.#known.delete(id);
    return known !== undefined && this.#clock.monotonic() - known.at < GOOD_FOR_MS ? known.status : undefined;
  }
}
