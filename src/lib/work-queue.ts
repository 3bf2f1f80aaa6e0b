// Work that is due later: each item once, at the time it was last asked for.
// Mirrors kubelet v1.36 pkg/kubelet/util/queue/work_queue.go, with a timer instead of polling.
import type {Clock, Timer} from './clock.js';

interface Entry {
  readonly item: string;
  readonly due: number;
}

/** Keeps one timer, for the earliest item. Times are monotonic. */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #onDue: (item: string) => void;
  readonly #dueByItem = new Map<string, number>();
  /** A binary heap by due time; an entry that is not what #dueByItem says has been replaced and is skipped. */
  readonly #heap: Entry[] = [];
  #timer: Timer | null = null;
  #timerDue = Infinity;

  /** `onDue` is called with each item when its time has come; it must not throw. */
  constructor(clock: Clock, onDue: (item: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /**
   * Asks for an item `delayMs` from now, whenever it was due before. Of what is in no hurry, `grainMs` says how much later it
   * may come: it is due at a multiple of it, together with others, so that the process wakes up less often.
   */
  enqueue(item: string, delayMs: number, grainMs = 0): void {
    const earliest = this.#clock.monotonic() + Math.max(delayMs, 0);
    const entry = {item, due: grainMs === 0 ? earliest : Math.ceil(earliest / grainMs) * grainMs};
    this.#dueByItem.set(item, entry.due);
    push(this.#heap, entry);
    if (entry.due < this.#timerDue) this.#arm();
  }

  remove(item: string): void {
    this.#dueByItem.delete(item);
  }

  /** Whether an item is still to come. */
  has(item: string): boolean {
    return this.#dueByItem.has(item);
  }

  /** Drops all items. */
  clear(): void {
    this.#dueByItem.clear();
    this.#heap.length = 0;
    this.#arm();
  }

  #arm(): void {
    this.#timer?.cancel();
    const next = this.#heap[0];
    this.#timerDue = next?.due ?? Infinity;
    this.#timer =
      next === undefined ? null : this.#clock.setTimer(() => this.#fire(), next.due - this.#clock.monotonic());
  }

  #fire(): void {
    const now = this.#clock.monotonic();
    const due: string[] = [];
    for (let next = this.#heap[0]; next !== undefined && next.due <= now; next = this.#heap[0]) {
      pop(this.#heap);
      if (this.#dueByItem.get(next.item) !== next.due) continue;
      this.#dueByItem.delete(next.item);
      due.push(next.item);
    }
    this.#arm();
    due.forEach(this.#onDue);
  }
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (dueAt(heap, parent) <= entry.due) break;
    swap(heap, index, parent);
    index = parent;
  }
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  for (let index = 0; ;) {
    const left = 2 * index + 1;
    const smaller = dueAt(heap, left + 1) < dueAt(heap, left) ? left + 1 : left;
    if (dueAt(heap, smaller) >= last.due) return;
    swap(heap, index, smaller);
    index = smaller;
  }
}

function dueAt(heap: readonly Entry[], index: number): number {
  return heap[index]?.due ?? Infinity;
}

function swap(heap: Entry[], a: number, b: number): void {
  const [left, right] = [heap[a], heap[b]];
  if (left === undefined || right === undefined) return;
  heap[a] = right;
  heap[b] = left;
}
