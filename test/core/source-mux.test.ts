import {describe, expect, it} from 'vitest';
import type {Pod} from '../../src/core/pod/types.js';
import {emptySourceMux, mergeSnapshot, type SourceMux, type SourceSnapshot} from '../../src/core/source-mux.js';
import {aPod, withMetadata} from '../support/builders.js';

function pod(name: string, uid = `uid-${name}`): Pod {
  return aPod(withMetadata({name, uid}));
}

function from(source: string, ...pods: readonly Pod[]): SourceSnapshot {
  return {
    source,
    pods: pods.map(one => ({pod: one, position: {file: `/${source}/${one.metadata.name}.yaml`}})),
    companions: {configMaps: [], secrets: [], runtimeClasses: []},
    problems: [],
  };
}

/** `source OP uid...` of each change after the last snapshot, and `conflict source uid`. */
function after(...snapshots: readonly SourceSnapshot[]): readonly string[] {
  let mux: SourceMux = emptySourceMux;
  let said: string[] = [];
  for (const snapshot of snapshots) {
    const merged = mergeSnapshot(mux, snapshot);
    mux = merged.mux;
    said = [
      ...merged.changes.map(({source, op, pods}) =>
        [source, op, ...pods.map(entry => entry.pod.metadata.uid)].join(' '),
      ),
      ...merged.conflicts.map(conflict => `conflict ${conflict.source} ${conflict.pod.pod.metadata.uid}`),
    ];
  }
  return said;
}

describe('mergeSnapshot', () => {
  it('keeps the pods of each source apart', () => {
    expect(after(from('file', pod('a')), from('http', pod('b')))).toEqual(['http ADD uid-b']);
    expect(after(from('file', pod('a')), from('http', pod('b')), from('file'))).toEqual(['file REMOVE uid-a']);
  });

  it('leaves a pod to the source that delivered it first, and reports the other', () => {
    const snapshots = [from('file', pod('a')), from('http', pod('a', 'uid-2'))];
    expect(after(...snapshots)).toEqual(['http ADD', 'conflict http uid-2']);
    expect(after(...snapshots, from('file', pod('a')))).toEqual(['conflict http uid-2']);
  });

  it('goes over to the next source in the moment the first drops the pod', () => {
    const snapshots = [from('file', pod('a')), from('etcd', pod('a', 'uid-2')), from('http', pod('a', 'uid-3'))];
    expect(after(...snapshots, from('file'))).toEqual(['file REMOVE uid-a', 'etcd ADD uid-2', 'conflict http uid-3']);
    expect(after(...snapshots, from('file'), from('file', pod('a')))).toEqual([
      'conflict file uid-a',
      'conflict http uid-3',
    ]);
  });

  it('does not run two pods of one uid', () => {
    expect(after(from('file', pod('a', 'same'), pod('b', 'same')))).toEqual(['file ADD same', 'conflict file same']);
    expect(after(from('file', pod('a', 'same')), from('http', pod('b', 'same')))).toEqual([
      'http ADD',
      'conflict http same',
    ]);
  });

  it('says of an unchanged snapshot nothing at all', () => {
    expect(after(from('file', pod('a')), from('file', pod('a')))).toEqual([]);
  });
});
