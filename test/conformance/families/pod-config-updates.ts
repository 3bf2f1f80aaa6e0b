// Feeds complete snapshots of the file source to the source mux and lists what it announces.
import {podChanges, type SourcedPod} from '../../../src/core/source-mux.js';
import type {Family} from '../family.js';

interface Entry {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  readonly label?: string;
  readonly annotation?: string;
  readonly phase?: string;
  readonly deleted?: boolean;
}

interface Input {
  readonly snapshots: readonly (readonly Entry[])[];
}

function sourcedPod(entry: Entry): SourcedPod {
  const {uid, name, namespace, image, label = '', annotation = '', phase, deleted} = entry;
  return {
    position: {file: '/manifests/pods.yaml'},
    pod: {
      metadata: {
        uid,
        name,
        namespace,
        ...(label === '' ? {} : {labels: {label}}),
        annotations: {'kubernetes.io/config.source': 'file', ...(annotation === '' ? {} : {annotation})},
        ...(deleted === true ? {deletionTimestamp: '2026-01-01T00:00:00Z'} : {}),
      },
      spec: {containers: [{name: 'c', image}]},
      ...(phase === undefined ? {} : {status: {phase}}),
    },
  };
}

export const family: Family<Input, unknown> = {
  run({snapshots}) {
    let old: readonly SourcedPod[] | undefined;
    const updates = snapshots.map(entries => {
      const next = entries.map(sourcedPod);
      const changes = podChanges('file', old, next);
      old = next;
      return changes.map(({op, pods}) => ({op, uids: pods.map(({pod}) => pod.metadata.uid)}));
    });
    return {updates};
  },
};
