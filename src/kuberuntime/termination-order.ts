// Lets the containers of a pod that is stopped go one after the other where the order asks for it.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_termination_order.go.
import type {KillOrder} from '../core/actions/order-kills.js';

/** One container's place in the order. */
export interface Turn {
  /** Resolves when all that it waits for have ended. May never: a stop call that failed ends nothing. */
  readonly come: Promise<void>;
  /** Tells that this container has ended. */
  ended(): void;
}

/** The turn of a container by name. `order` names for each who must have ended before. */
export function terminationTurns(order: KillOrder): (name: string) => Turn {
  const latches = new Map<string, {readonly opened: Promise<void>; readonly open: () => void}>();
  const latchOf = (name: string): {readonly opened: Promise<void>; readonly open: () => void} => {
    const known = latches.get(name);
    if (known !== undefined) return known;
    const {promise, resolve} = newLatch();
    const latch = {opened: promise, open: resolve};
    latches.set(name, latch);
    return latch;
  };
  return name => ({
    come: Promise.all((order.get(name) ?? []).map(other => latchOf(other).opened)).then(() => undefined),
    ended: () => latchOf(name).open(),
  });
}

function newLatch(): {readonly promise: Promise<void>; readonly resolve: () => void} {
  let resolve = (): void => undefined;
  const promise = new Promise<void>(done => {
    resolve = done;
  });
  return {promise, resolve};
}
