// Runs the worker of one probe: ticks, makes the checks that are due, tells what is to be published.
// Mirrors kubelet v1.36 pkg/kubelet/prober/worker.go run.
import type {ProbedPod, PublishedResult} from '../../core/probe/types.js';
import {
  initialProbeWorkerState,
  nextTick,
  probePeriodMs,
  stepProbeWorker,
  type ProbeWorkerEvent,
  type ProbeWorkerSpec,
  type ProbeWorkerStep,
} from '../../core/probe/worker.js';
import type {ContainerId} from '../../core/runtime-status/types.js';
import type {Clock} from '../../lib/clock.js';

export interface ProbeWorkerDeps {
  readonly clock: Clock;
  /** The pod as its published status shows it now; null = it has none. */
  readonly look: () => ProbedPod | null;
  /** Makes one check; null = it could not be made. Rejects only with the signal's reason. */
  readonly check: (containerId: ContainerId, signal: AbortSignal) => Promise<'success' | 'failure' | null>;
  /** Called the moment a result changes. Must not throw. */
  readonly publish: (result: PublishedResult) => void;
  /** Wait before the first tick, ms. */
  readonly startDelayMs: number;
}

export interface ProbeWorker {
  /** Asks for a tick now instead of at its time; the period starts anew. */
  trigger(): void;
  /** Ends the worker: a check that runs is cancelled, what it had published is removed. */
  stop(): void;
  /** Resolves when the worker has ended. Rejects only on a bug. */
  readonly done: Promise<void>;
}

export function startProbeWorker(spec: ProbeWorkerSpec, deps: ProbeWorkerDeps): ProbeWorker {
  const stopping = new AbortController();
  const alarm = new Alarm(deps.clock);
  stopping.signal.addEventListener('abort', () => alarm.ring(), {once: true});
  return {
    trigger: () => alarm.ring(),
    stop: () => stopping.abort(new Error('the probe worker was stopped')),
    done: run(spec, deps, alarm, stopping.signal),
  };
}

async function run(spec: ProbeWorkerSpec, deps: ProbeWorkerDeps, alarm: Alarm, stop: AbortSignal): Promise<void> {
  const {clock} = deps;
  const periodMs = probePeriodMs(spec.probe);
  let state = initialProbeWorkerState;
  const step = (event: ProbeWorkerEvent): ProbeWorkerStep['next'] => {
    const next = stepProbeWorker(spec, state, event, clock.now());
    state = next.state;
    next.publish.forEach(deps.publish);
    return next.next;
  };

  // Also without a delay nothing happens before whoever starts the worker has it in hand.
  await alarm.wait(deps.startDelayMs);
  let tickAt = clock.monotonic();
  while (!stop.aborted) {
    const next = step({kind: 'tick', pod: deps.look()});
    if (next.kind === 'end') return;
    if (next.kind === 'check') {
      const result = await verdictUnlessStopped(deps.check(next.containerId, stop), stop);
      if (result !== null) step({kind: 'checked', result});
    }
    const due = nextTick(tickAt, periodMs, clock.monotonic());
    // An alarm that rang meanwhile counts as a trigger, also one that rang while the check ran.
    tickAt = (await alarm.wait(due - clock.monotonic())) === 'rung' ? clock.monotonic() : due;
  }
  step({kind: 'stop'});
}

async function verdictUnlessStopped<T>(check: Promise<T>, stop: AbortSignal): Promise<T | null> {
  try {
    const result = await check;
    return stop.aborted ? null : result;
  } catch (error) {
    if (stop.aborted) return null;
    throw error;
  }
}

/** A wait that can be cut short; ringing while nobody waits shortens the next wait. */
class Alarm {
  readonly #clock: Clock;
  #rung = false;
  #wake: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  async wait(ms: number): Promise<'rung' | 'over'> {
    if (!this.#rung && ms > 0) {
      await new Promise<void>(resolve => {
        const timer = this.#clock.setTimer(resolve, ms);
        this.#wake = () => {
          timer.cancel();
          resolve();
        };
      });
      this.#wake = null;
    }
    const rung = this.#rung;
    this.#rung = false;
    return rung ? 'rung' : 'over';
  }
}
