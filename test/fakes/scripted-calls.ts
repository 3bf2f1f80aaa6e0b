// What happens to a call before it is done, by the fake runtime or behind the recording proxy: it is recorded, and a test
// may fail it, hold it or look on.
import {CriError, type CriCode} from '../../src/core/errors.js';
import type {Clock} from '../../src/lib/clock.js';
import {deadlineMs} from '../../src/cri/deadlines.js';
import {onAbort} from '../../src/lib/on-abort.js';

/** One call as the runtime received it. */
export interface RecordedCall {
  /** CRI method, e.g. RunPodSandbox. */
  readonly rpc: string;
  /** The wire message of cri/gen. Tests look into requests of every kind; a cast at each place would say no more. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly request: any;
  /** ms of the clock. */
  readonly at: number;
  /** How it ended; null while it runs. */
  readonly outcome: CallOutcome | null;
}

export interface CallOutcome {
  /** ms of the clock. */
  readonly at: number;
  /** What the service answered, in its own form; absent when it failed. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly answer?: any;
  /** Why it failed: a CriError, or the reason of the signal. */
  readonly error?: unknown;
}

export interface Refusal {
  readonly code: CriCode;
  readonly message: string;
}

/** Sees a call before it is done; throws a Refusal-made CriError to refuse it, waits to hold it. */
export type Interceptor = (call: RecordedCall, signal: AbortSignal) => void | Promise<void>;

/** Calls that change something. */
export const MUTATING_RPCS: ReadonlySet<string> = new Set([
  'RunPodSandbox',
  'StopPodSandbox',
  'RemovePodSandbox',
  'CreateContainer',
  'StartContainer',
  'StopContainer',
  'RemoveContainer',
  'PullImage',
  'RemoveImage',
]);

interface Pending {
  readonly rpc: string;
  readonly when: (call: RecordedCall) => boolean;
  readonly before: Interceptor;
  /** Sees a call after it was done; what it throws is the answer. */
  readonly after?: (call: RecordedCall) => void;
  left: number;
}

type Recording = RecordedCall & {outcome: CallOutcome | null};

interface Call {
  readonly rpc: string;
  readonly request: unknown;
  readonly signal: AbortSignal;
  /** The timeout inside the request, which lengthens the deadline. */
  readonly seconds?: number;
  /** The caller keeps the deadline: none is kept here. */
  readonly unlimited?: boolean;
}

/** Options of a scripted fault. */
export interface FaultOptions {
  /** How many calls it hits; default 1. Infinity = until removed. */
  readonly times?: number;
  /** Only calls whose record this accepts. */
  readonly when?: (call: RecordedCall) => boolean;
  /** The runtime does the work and then answers with the error, as when the answer is lost. */
  readonly afterEffect?: boolean;
}

export class ScriptedCalls {
  readonly endpoint: string;
  readonly clock: Clock;
  /** Every call, in order. */
  readonly calls: RecordedCall[] = [];
  /** False keeps no record: for simulations of thousands of pods. */
  recording = true;
  #pending: Pending[] = [];
  #down: Refusal | null = null;

  constructor(endpoint: string, clock: Clock) {
    this.endpoint = endpoint;
    this.clock = clock;
  }

  /** Looks at calls of `rpc` before they are done ('*' = all). Returns a function that takes the interceptor away. */
  intercept(rpc: string, before: Interceptor, options: FaultOptions = {}): () => void {
    return this.#add({rpc, before, when: options.when ?? always, left: options.times ?? Infinity});
  }

  /** Looks at calls of `rpc` after they were done. Returns a function that takes the interceptor away. */
  interceptAfter(rpc: string, after: (call: RecordedCall) => void, options: FaultOptions = {}): () => void {
    const when = options.when ?? always;
    return this.#add({rpc, before: () => undefined, after, when, left: options.times ?? Infinity});
  }

  /** Refuses the next call of `rpc` (or as many as options.times). Returns a function that takes the fault away. */
  failNext(rpc: string, refusal: Refusal, options: FaultOptions = {}): () => void {
    const error = (): CriError => this.error(rpc, refusal);
    const shared = {rpc, when: options.when ?? always, left: options.times ?? 1};
    const refuse = (): never => {
      throw error();
    };
    if (options.afterEffect === true) return this.#add({...shared, before: () => undefined, after: refuse});
    return this.#add({...shared, before: refuse});
  }

  /** Holds the next call of `rpc` until released; its deadline and its signal end it as they end a real one. */
  hangNext(rpc: string, options: FaultOptions = {}): {readonly release: () => void; readonly reached: Promise<void>} {
    const gate = latch();
    const reached = latch();
    this.#add({
      rpc,
      when: options.when ?? always,
      left: options.times ?? 1,
      before: () => {
        reached.open();
        return gate.opened;
      },
    });
    return {release: gate.open, reached: reached.opened};
  }

  /** Makes the next call of `rpc` take `ms` of the clock before it is done. */
  delayNext(rpc: string, ms: number, options: FaultOptions = {}): void {
    this.#add({
      rpc,
      when: options.when ?? always,
      left: options.times ?? 1,
      before: (_call, signal) => this.clock.sleep(ms, signal),
    });
  }

  /** From now on nobody answers. */
  disconnect(message = 'connection refused'): void {
    this.#down = {code: 'UNAVAILABLE', message};
  }

  reconnect(): void {
    this.#down = null;
  }

  clear(): void {
    this.calls.length = 0;
  }

  /** Method names of the calls so far; `mutating` = only those that change something. */
  names(mutating = false): string[] {
    return this.calls.map(call => call.rpc).filter(rpc => !mutating || MUTATING_RPCS.has(rpc));
  }

  /** Requests of one method, in order. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  requests(rpc: string): any[] {
    return this.calls.filter(call => call.rpc === rpc).map(call => call.request as unknown);
  }

  error(rpc: string, refusal: Refusal): CriError {
    return new CriError({rpc, ...refusal, endpoint: this.endpoint});
  }

  /** Records a call, lets the script have its way, then does it. */
  async run<T>(call: Call, effect: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    call.signal.throwIfAborted();
    const record = this.#record(call);
    const {reached, finish} = this.#arm(call);
    try {
      const answer = await Promise.race([this.#work(record, reached, effect), ended(reached)]);
      record.outcome = {at: this.clock.now(), answer};
      return answer;
    } catch (error) {
      record.outcome = {at: this.clock.now(), error};
      throw error;
    } finally {
      finish();
    }
  }

  async #work<T>(
    record: RecordedCall,
    signal: AbortSignal,
    effect: (signal: AbortSignal) => T | Promise<T>,
  ): Promise<T> {
    this.#refuseWhenDown(record.rpc);
    const faults = this.#take(record);
    for (const fault of faults) await fault.before(record, signal);
    this.#refuseWhenDown(record.rpc);
    const answer = await effect(signal);
    for (const fault of faults) fault.after?.(record);
    return answer;
  }

  #record(call: Call): Recording {
    const {rpc} = call;
    const at = this.clock.now();
    if (!this.recording) return {rpc, request: call.request, at, outcome: null};
    const record: Recording = {rpc, request: structuredClone(call.request), at, outcome: null};
    this.calls.push(record);
    return record;
  }

  /** Throws when nobody answers. */
  #refuseWhenDown(rpc: string): void {
    if (this.#down !== null) throw this.error(rpc, this.#down);
  }

  #add(pending: Pending): () => void {
    this.#pending.push(pending);
    return () => {
      this.#pending = this.#pending.filter(other => other !== pending);
    };
  }

  /** The faults that apply to this call, counted down. The first that fails decides. */
  #take(record: RecordedCall): Pending[] {
    const hit = this.#pending.filter(one => (one.rpc === record.rpc || one.rpc === '*') && one.when(record));
    for (const one of hit) one.left--;
    this.#pending = this.#pending.filter(one => one.left > 0);
    return hit;
  }

  /** A signal that ends the call at its deadline or with its own signal. */
  #arm(call: Call): {reached: AbortSignal; finish: () => void} {
    const controller = new AbortController();
    const limit = call.unlimited === true ? null : deadlineMs(call.rpc, call.seconds);
    const late = {code: 'DEADLINE_EXCEEDED', message: 'context deadline exceeded'} as const;
    const timer =
      limit === null ? null : this.clock.setTimer(() => controller.abort(this.error(call.rpc, late)), limit);
    const stopListening = onAbort(call.signal, () => controller.abort(call.signal.reason));
    return {
      reached: controller.signal,
      finish: () => {
        timer?.cancel();
        stopListening();
      },
    };
  }
}

const always = (): boolean => true;

function latch(): {readonly open: () => void; readonly opened: Promise<void>} {
  let open = (): void => undefined;
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return {open, opened};
}

function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    onAbort(signal, () => reject(signal.reason as Error));
  });
}
