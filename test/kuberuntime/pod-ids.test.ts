import {describe, expect, test} from 'vitest';
import type {ContainerId, RuntimePod, SandboxId} from '../../src/core/runtime-status/types.js';
import {PodIdTable} from '../../src/kuberuntime/pod-ids.js';

const ref = {uid: 'u1', name: 'web', namespace: 'default'};
const [sandbox, main, side] = ['s1' as SandboxId, 'containerd://c1' as ContainerId, 'containerd://c2' as ContainerId];

/** A pod as a list shows it, as far as the table looks. */
function shown(...containers: readonly ContainerId[]): RuntimePod {
  const parts = {sandboxes: [{id: sandbox}], containers: containers.map(id => ({id, sandboxId: sandbox}))};
  return {...ref, createdAt: 0, ...parts} as unknown as RuntimePod;
}

function idsIn(table: PodIdTable): readonly string[] | undefined {
  const pod = table.of(ref);
  return pod === undefined ? undefined : [...pod.sandboxes, ...pod.containers].map(({id}) => id);
}

describe('what a pod consists of', () => {
  test('is not certain before a list, and of a pod that nobody knows', () => {
    const table = new PodIdTable();
    table.madeSandbox(ref.uid, sandbox);
    expect(idsIn(table)).toBeUndefined();
    table.listed([], table.moment());
    expect(idsIn(table)).toBeUndefined();
  });

  test('is what a list shows, and what was made since', () => {
    const table = new PodIdTable();
    table.listed([shown(main)], table.moment());
    table.madeContainer(ref.uid, side, sandbox);
    expect(idsIn(table)).toEqual([sandbox, main, side]);
    table.listed([shown(side)], table.moment());
    expect(idsIn(table)).toEqual([sandbox, side]);
    table.listed([], table.moment());
    expect(idsIn(table)).toBeUndefined();
  });

  test('keeps what was made while the runtime was answering', () => {
    const table = new PodIdTable();
    table.listed([], table.moment());
    const askedAt = table.moment();
    table.madeSandbox(ref.uid, sandbox);
    table.madeContainer(ref.uid, main, sandbox);
    table.listed([], askedAt);
    table.found({...ref, sandboxes: [], containers: []}, askedAt);
    expect(idsIn(table)).toEqual([sandbox, main]);
  });

  test('is in doubt as long as there is anything of the pod, once a call has failed: it may be carried out late', () => {
    const table = new PodIdTable();
    table.listed([shown(main)], table.moment());
    table.doubt(ref.uid);
    table.found(shown(main), table.moment());
    table.listed([shown(main)], table.moment());
    expect(idsIn(table)).toBeUndefined();
    table.listed([], table.moment());
    table.madeSandbox(ref.uid, sandbox);
    expect(idsIn(table)).toEqual([sandbox]);
  });
});
