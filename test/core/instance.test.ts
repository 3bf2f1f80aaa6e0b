import {expect, test} from 'vitest';
import {instanceOf} from '../../src/core/instance.js';

test('a root directory has one instance for ever, and a label can hold it', () => {
  expect(instanceOf('/var/lib/minikubelet')).toBe('197e4527bfea2186');
  expect(instanceOf('/tmp/a b/ü')).toMatch(/^[0-9a-f]{16}$/);
  expect(instanceOf('/a')).not.toBe(instanceOf('/b'));
});
