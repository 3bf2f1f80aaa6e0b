// Label selectors and label keys, wherever a pod has them.
// Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/validation.
import type {LabelSelector} from '../types.js';
import {labelValue, qualifiedName} from './names.js';
import {forbidden, invalid, invalidFor, required, type Problems} from './problem.js';

/** Errors name the map, not the key. */
export function* labels(path: string, given: Readonly<Record<string, string>> = {}): Problems {
  for (const [key, value] of Object.entries(given)) {
    yield* invalidFor(path, key, qualifiedName(key));
    yield* invalidFor(path, value, labelValue(value));
  }
}

export function* labelSelector(path: string, selector: LabelSelector | undefined): Problems {
  if (selector === undefined) return;
  yield* labels(`${path}.matchLabels`, selector.matchLabels);
  for (const [index, {key, operator, values = []}] of (selector.matchExpressions ?? []).entries()) {
    const own = `${path}.matchExpressions[${index}]`;
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        yield required(`${own}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        yield forbidden(`${own}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else yield invalid(`${own}.operator`, operator, 'not a valid selector operator');
    yield* invalidFor(`${own}.key`, key, qualifiedName(key));
    for (const [at, value] of values.entries()) yield* invalidFor(`${own}.values[${at}]`, value, labelValue(value));
  }
}

/** Every key a selector mentions. */
export function selectorKeys(selector: LabelSelector | undefined): ReadonlySet<string> {
  return new Set([
    ...Object.keys(selector?.matchLabels ?? {}),
    ...(selector?.matchExpressions ?? []).map(({key}) => key),
  ]);
}
