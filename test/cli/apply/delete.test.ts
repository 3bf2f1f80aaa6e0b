import {describe, expect, test} from 'vitest';
import {podsToDelete, type DeleteTargets} from '../../../src/cli/apply/delete.js';
import {parseLabelSelector} from '../../../src/cli/pods/label-selector.js';
import type {RuntimePod, SandboxId} from '../../../src/core/runtime-status/types.js';
import {aPod, withMetadata} from '../../support/builders.js';

function runtimePod(
  name: string,
  source: string,
  more: {namespace?: string; labels?: Record<string, string>} = {},
): RuntimePod {
  const {namespace = 'default', labels = {}} = more;
  return {
    uid: `${namespace}-${name}-${source}`,
    name,
    namespace,
    createdAt: 0,
    containers: [],
    sandboxes: [
      {
        id: 's' as SandboxId,
        state: 'SANDBOX_READY',
        createdAtNs: 1n,
        attempt: 0,
        labels,
        annotations: {'minikubelet.dev/source': source},
      },
    ],
  };
}

const present = [
  runtimePod('web-box', '/srv/pods/web.yaml', {labels: {app: 'web'}}),
  // The one before the edit, still ending: it has the same name.
  runtimePod('web-box', '/srv/pods/old.yaml'),
  runtimePod('gone-box', '/srv/pods/gone.yaml'),
  runtimePod('other-box', '/srv/pods-2/other.yaml', {labels: {app: 'web'}}),
  runtimePod('dns-box', '/etc/dns.yaml', {namespace: 'kube-system'}),
];

const nothing: DeleteTargets = {
  names: [],
  manifests: {pods: [], problems: []},
  paths: [],
  matches: null,
  all: false,
  namespace: undefined,
  nodeName: 'box',
  ignoreNotFound: false,
};

const chosen = (targets: Partial<DeleteTargets>): readonly string[] =>
  podsToDelete({...nothing, ...targets}, present).map(({namespace, name}) => `${namespace}/${name}`);

describe('which pods delete means', () => {
  test('by name, each once however many of it there are', () => {
    expect(chosen({names: ['web', 'dns-box']})).toEqual(['default/web-box', 'kube-system/dns-box']);
  });

  test('a directory means all that came from it, defined in it still or not, and nothing beside it', () => {
    expect(chosen({paths: ['/srv/pods']})).toEqual(['default/web-box', 'default/gone-box']);
    expect(chosen({paths: ['/srv/pods/gone.yaml']})).toEqual(['default/gone-box']);
  });

  test('a manifest means the pods it defines, wherever they came from and whether they are there or not', () => {
    const pod = aPod(withMetadata({name: 'new-box'}));
    const manifests = {pods: [{pod, position: {file: '/tmp/x.yaml'}}], problems: []};
    expect(chosen({manifests})).toEqual(['default/new-box']);
  });

  test('by label, by namespace, or all', () => {
    expect(chosen({matches: parseLabelSelector('app=web')})).toEqual(['default/web-box', 'default/other-box']);
    expect(chosen({all: true, namespace: 'kube-system'})).toEqual(['kube-system/dns-box']);
    expect(chosen({all: true})).toHaveLength(4);
  });

  test('an unknown name is an error unless that is said to be fine', () => {
    expect(() => chosen({names: ['nope']})).toThrow('there is no pod "nope"');
    expect(chosen({names: ['nope', 'web'], ignoreNotFound: true})).toEqual(['default/web-box']);
  });
});
