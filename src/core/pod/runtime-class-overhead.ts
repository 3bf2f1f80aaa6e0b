// What a pod costs beyond its containers comes from its RuntimeClass.
// Mirrors kubernetes v1.36 plugin/pkg/admission/runtimeclass/admission.go setOverhead; its setScheduling and its refusal of
// an overhead without a class are left out (docs/parity.md).
import {compareQuantities} from './quantity.js';
import type {Pod, Quantity, RuntimeClass} from './types.js';

export type WithOverhead = {readonly ok: true; readonly pod: Pod} | {readonly ok: false; readonly problem: string};

/** The pod with the overhead of its class; the same pod when the class says nothing, or there is none of that name. */
export function withClassOverhead(pod: Pod, classes: readonly RuntimeClass[]): WithOverhead {
  const {runtimeClassName, overhead} = pod.spec;
  const fixed = classes.find(({metadata}) => metadata?.name === runtimeClassName)?.overhead?.podFixed;
  if (runtimeClassName === undefined || fixed === undefined) return {ok: true, pod};
  if (overhead === undefined) return {ok: true, pod: {...pod, spec: {...pod.spec, overhead: fixed}}};
  if (areEqual(overhead, fixed)) return {ok: true, pod};
  return {ok: false, problem: `does not match the overhead of RuntimeClass "${runtimeClassName}"`};
}

type Amounts = Readonly<Record<string, Quantity>>;

function areEqual(one: Amounts, other: Amounts): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(name => Object.hasOwn(other, name) && compareQuantities(one[name] ?? '', other[name] ?? '') === 0)
  );
}
