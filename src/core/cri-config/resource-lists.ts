// Amounts of a resource list, as numbers.
import {quantityMilliValue, quantityValue} from '../pod/quantity.js';
import type {Quantity} from '../pod/types.js';

export type ResourceList = Readonly<Record<string, Quantity>> | undefined;

/** Whole units (bytes), rounded up; 0 when the list does not name the resource. */
export function amountOf(list: ResourceList, name: string): bigint {
  const text = list?.[name];
  return text === undefined ? 0n : quantityValue(text);
}

/** Thousandths (millicores), rounded up; 0 when the list does not name the resource. */
export function milliAmountOf(list: ResourceList, name: string): bigint {
  const text = list?.[name];
  return text === undefined ? 0n : quantityMilliValue(text);
}
