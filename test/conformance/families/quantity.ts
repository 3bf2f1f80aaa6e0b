import {
  addQuantities,
  compareQuantities,
  fitsInt64,
  formatQuantity,
  parseQuantity,
  QuantityError,
  quantityMilliValue,
  quantityValue,
  subtractQuantities,
} from '../../../src/core/pod/quantity.js';
import type {Family} from '../family.js';

type Input =
  {readonly kind: 'parse'; readonly string: string} | {readonly kind: 'pair'; readonly a: string; readonly b: string};

interface Want {
  readonly error?: string;
  readonly valueOverflow?: boolean;
  readonly milliOverflow?: boolean;
}

export const family: Family<Input, Want> = {
  run(input) {
    return input.kind === 'parse' ? parse(input.string) : pair(input.a, input.b);
  },
  normalize(value, _side, _input, want) {
    const answer = {...(value as Record<string, unknown>)};
    if (want.valueOverflow === true) delete answer['value'];
    if (want.milliOverflow === true) delete answer['milliValue'];
    return answer;
  },
};

function parse(text: string): unknown {
  try {
    const quantity = parseQuantity(text);
    const value = quantity.unscaled;
    return {
      canonical: formatQuantity(quantity),
      canonicalFromJSON: formatQuantity(parseQuantity(formatQuantity(quantity))),
      value: quantityValue(quantity).toString(),
      milliValue: quantityMilliValue(quantity).toString(),
      format: quantity.format,
      sign: value === 0n ? 0 : value < 0n ? -1 : 1,
      valueOverflow: !fitsInt64(quantity, 0),
      milliOverflow: !fitsInt64(quantity, -3),
    };
  } catch (error) {
    if (error instanceof QuantityError) return {error: error.message};
    throw error;
  }
}

function pair(a: string, b: string): unknown {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  const cmp = compareQuantities(left, right);
  return {
    cmp,
    equal: cmp === 0,
    sum: formatQuantity(addQuantities(left, right)),
    difference: formatQuantity(subtractQuantities(left, right)),
  };
}
