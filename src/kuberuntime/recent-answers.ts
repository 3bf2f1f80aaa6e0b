// What the runtime said a moment ago and need not be asked again. A new sandbox is asked about for its addresses, and again
// whenever one of its first containers starts: nothing of it has changed by then, or an event or a list has told so. A
// container that has exited stays as it is until it is removed.
// Differs from kubelet: it asks again (docs/parity.md).
import type {CriContainer} from '../core/runtime-status/from-cri.js';
import type {RuntimePod} from '../core/runtime-status/types.js';
import {ContainerState, type PodSandboxStatus} from '../cri/gen/cri.js';
import type {Clock} from '../lib/clock.js';

const GOOD_FOR_MS = 1000;

export class RecentAnswers {
  readonly #sandboxes: Recent<PodSandboxStatus>;
  readonly #exited: Recent<CriContainer>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#sandboxes = new Recent(clock);
    this.#exited = new Recent(clock);
  }

  noteSandbox(status: PodSandboxStatus): void {
    this.#sandboxes.note(status.id, status);
  }

  /** undefined = the runtime has to be asked. */
  sandbox(id: string): PodSandboxStatus | undefined {
    return this.#sandboxes.get(id);
  }

  noteContainer(container: CriContainer): void {
    if (container.status.state === ContainerState.CONTAINER_EXITED) this.#exited.note(container.status.id, container);
  }

  /** One that has exited; undefined = the runtime has to be asked. */
  exitedContainer(criId: string): CriContainer | undefined {
    return this.#exited.get(criId);
  }

  /** Something has happened to that sandbox or container, or is about to. */
  forget(criId: string): void {
    this.#sandboxes.delete(criId);
    this.#exited.delete(criId);
  }

  /** Takes in what a list shows. */
  listed(pods: readonly RuntimePod[]): void {
    if (this.#sandboxes.size === 0) return;
    for (const {sandboxes} of pods) {
      for (const {id, state} of sandboxes) if (state !== 'SANDBOX_READY') this.#sandboxes.delete(id);
    }
  }
}

/** Values by id, each as long as it is good. */
class Recent<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, {readonly value: T; readonly at: number}>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#known.size;
  }

  note(id: string, value: T): void {
    const at = this.#clock.monotonic();
    for (const [old, known] of this.#known) {
      if (at - known.at < GOOD_FOR_MS) break;
      this.#known.delete(old);
    }
    this.#known.delete(id);
    this.#known.set(id, {value, at});
  }

  get(id: string): T | undefined {
    const known = this.#known.get(id);
    return known !== undefined && this.#clock.monotonic() - known.at < GOOD_FOR_MS ? known.value : undefined;
  }

  delete(id: string): void {
    this.#known.delete(id);
  }
}
