import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  fitsInt64,
  formatQuantity,
  parseQuantity,
  QuantityError,
  quantityMilliValue,
  quantityValue,
  subtractQuantities,
} from '../../../src/core/pod/quantity.js';

describe('canonical text', () => {
  test.for([
    ['1000m', '1'],
    ['0.1', '100m'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['0.1Ki', '102400m'],
    ['1500000', '1500k'],
    ['1e10', '10e9'],
    ['01', '01'],
    ['2.Ki', '2.Ki'],
    ['.', '0'],
    ['m', '0'],
    ['0.0000000001', '1n'],
    ['-.5', '-500m'],
    ['9Ei', '9223372036854775807'],
  ] as const)('of %s is %s', ([text, want]) => {
    expect(canonicalQuantity(text)).toBe(want);
  });
});

describe('refused texts', () => {
  test.for(['1ki', '1K', '1i', '--1', '1-', '1e', 'e99999999999999999999'])('%s has no known suffix', text => {
    expect(() => parseQuantity(text)).toThrow(new QuantityError("unable to parse quantity's suffix"));
  });

  test.for(['', ' 1', '1 ', '1KB', '0x10', '1_000', 'Inf', '1.2.3', '1\n'])('%j is not a quantity at all', text => {
    expect(() => parseQuantity(text)).toThrow(/must match the regular expression/);
  });

  test.for(['.e-20', 'e-20', 'Pi', '+.Ei'])('%s has no number, where a smaller one would be 0', text => {
    expect(() => parseQuantity(text)).toThrow(/numeric part/);
  });

  test.for(['Ki', '.Ti', 'P'])('%s is 0', text => {
    expect(canonicalQuantity(text)).toBe('0');
  });
});

describe('integers', () => {
  test.for([
    ['1500m', 2n, 1500n],
    ['0.0001', 1n, 1n],
    ['-1500m', -2n, -1500n],
    ['64Mi', 67108864n, 67108864000n],
    ['100000E', 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['-100000E', -(2n ** 63n), -(2n ** 63n)],
    ['1e2000000000', 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['1e-2000000000', 1n, 1n],
    ['-.8n', 1n, 1n],
    ['-0890Pi', -1152921503n, -(2n ** 63n)],
  ] as const)('%s is %d, in thousandths %d', ([text, value, milli]) => {
    expect([quantityValue(text), quantityMilliValue(text)]).toEqual([value, milli]);
  });

  test('fitsInt64 tells a value that was cut from one that was not', () => {
    expect(fitsInt64(parseQuantity('9E'), 0)).toBe(true);
    expect(fitsInt64(parseQuantity('9E'), -3)).toBe(false);
  });
});

describe('arithmetic', () => {
  test('numbers too far apart to be written out are still compared and added', () => {
    const huge = parseQuantity('1e2000000000');
    const one = parseQuantity('1');
    expect(compareQuantities(huge, one)).toBe(1);
    expect(compareQuantities(one, huge)).toBe(-1);
    expect(formatQuantity(addQuantities(huge, one))).toBe('100e1999999998');
  });

  const quantity = fc
    .tuple(
      fc.integer({min: -1_000_000, max: 1_000_000}),
      fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'Ki', 'Mi', 'e3'),
    )
    .map(([number, suffix]) => parseQuantity(`${number}${suffix}`));

  test('canonical text reads as the same number', () => {
    fc.assert(
      fc.property(quantity, a => {
        expect(compareQuantities(parseQuantity(formatQuantity(a)), a)).toBe(0);
      }),
    );
  });

  test('what was added can be subtracted again, and order is total', () => {
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        expect(compareQuantities(subtractQuantities(addQuantities(a, b), b), a)).toBe(0);
        expect(compareQuantities(a, b)).toBe(-compareQuantities(b, a) || 0);
      }),
    );
  });
});
