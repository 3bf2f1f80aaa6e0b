import net from 'node:net';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {formatIPAddress, isIPAddress} from '../../../src/core/runtime-status/ip-address.js';

test('what Node takes for an address is one, without zones', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({maxLength: 12})), text => {
      fc.pre(!text.includes('%'));
      expect(isIPAddress(text)).toBe(net.isIP(text) !== 0);
    }),
  );
});

const broken = [
  '',
  '1.2.3',
  '1.2.3.256',
  '1.2.3.4.5',
  ':',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7:8:9',
  '12345::',
  'fe80::1%eth0',
];
for (const text of broken) {
  test(`${JSON.stringify(text)} is none`, () => expect(isIPAddress(text)).toBe(false));
}

test('leading zeros are read, and not written', () => {
  expect(isIPAddress('010.088.0.02')).toBe(true);
  expect(formatIPAddress('010.088.0.02')).toBe('10.88.0.2');
  expect(formatIPAddress('::ffff:10.88.0.2')).toBe('10.88.0.2');
  expect(formatIPAddress('FD00:0:0:0::0007')).toBe('fd00::7');
});
