import {describe, expect, test} from 'vitest';
import {parseLabelSelector} from '../../../src/cli/pods/label-selector.js';
import {findPod, isManifestPath, mustFindPod} from '../../../src/cli/pods/select-pods.js';
import {UsageError} from '../../../src/core/errors.js';

const pod = (name: string, namespace = 'default') => ({uid: `${namespace}-${name}`, name, namespace});
const pods = [
  pod('web-box'),
  pod('db-box'),
  pod('dns-box', 'kube-system'),
  pod('db-box', 'test'),
  pod('a-box', 'x'),
  pod('a-box', 'y'),
];

describe('a pod is found by its name, with or without the node’s name', () => {
  test.for<[string, string | undefined, string | null]>([
    ['web', undefined, 'default-web-box'],
    ['web-box', undefined, 'default-web-box'],
    ['pod/web', undefined, 'default-web-box'],
    ['dns', undefined, 'kube-system-dns-box'],
    ['dns', 'default', null],
    ['db', undefined, 'default-db-box'],
    ['db', 'test', 'test-db-box'],
    ['nothing', undefined, null],
  ])('%s in %s', ([name, namespace, want]) => {
    expect(findPod(pods, {name, namespace, nodeName: 'box'})?.uid ?? null).toBe(want);
  });
});

test('a name that several namespaces have is refused, naming them', () => {
  expect(() => findPod(pods, {name: 'a', namespace: undefined, nodeName: 'box'})).toThrow(
    '"a" may be x/a-box or y/a-box',
  );
});

test('a pod that does not exist is told with those that do', () => {
  const act = () => mustFindPod(pods, {name: 'pod/wbe', namespace: 'default', nodeName: 'box'});
  expect(act).toThrow('there is no pod "wbe" in namespace default');
  expect(() => mustFindPod([], {name: 'x', namespace: undefined, nodeName: 'box'})).toThrow(UsageError);
});

describe('labels are selected as kubectl selects them', () => {
  const labels = {app: 'web', tier: 'front', empty: ''};
  test.for<[string, boolean]>([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web', true],
    ['app=db', false],
    ['app!=db', true],
    ['missing!=x', true],
    ['app in (web, db)', true],
    ['app in (db)', false],
    ['app notin (db)', true],
    ['missing notin (x)', true],
    ['app', true],
    ['!app', false],
    ['!missing', true],
    ['empty=', true],
    ['app=web,tier=front', true],
    ['app in (web,db),tier!=back,!missing', true],
    ['app=web,tier=back', false],
  ])('%s', ([selector, want]) => {
    expect(parseLabelSelector(selector)(labels)).toBe(want);
  });

  test('an object without labels matches only what asks for absence', () => {
    expect(parseLabelSelector('!app')(undefined)).toBe(true);
    expect(parseLabelSelector('app')(undefined)).toBe(false);
  });

  test.for(['=x', 'a b', 'a in x', 'a=b=c', 'a in (b', ','])('%s is refused', selector => {
    expect(() => parseLabelSelector(selector)).toThrow(UsageError);
  });
});

describe('an argument of delete is a path when it looks or lies like one', () => {
  test.for<[string, boolean, boolean]>([
    ['web', false, false],
    ['web', true, true],
    ['pod/web', false, false],
    ['./pods', false, true],
    ['/srv/pods', false, true],
    ['pods/web', false, false],
    ['web.yaml', false, true],
    ['web.json', false, true],
    ['-', false, true],
    ['http://host/pods', false, true],
  ])('%s (exists: %s)', ([argument, exists, want]) => {
    expect(isManifestPath(argument, exists)).toBe(want);
  });
});
