import {podStatusFromCri, type CriContainer} from '../../../src/core/runtime-status/from-cri.js';
import {
  isLogNeeded,
  terminationMessage,
  terminationSources,
  type ReadEnd,
} from '../../../src/core/runtime-status/termination-message.js';
import type {PodRuntimeStatus} from '../../../src/core/runtime-status/types.js';
import type {Family} from '../family.js';
import {toNeutral, type NeutralStatus} from '../neutral-status.js';
import {containerStatusFromJson, sandboxStatusFromJson, type CriJson} from '../cri-json.js';

interface Input {
  readonly runtimeName: string;
  readonly podUID: string;
  readonly sandboxes?: readonly CriJson[];
  readonly containers?: readonly {readonly podSandboxId: string; readonly status: CriJson}[];
  readonly files?: Readonly<Record<string, string>>;
}

interface Want {
  readonly podStatus: NeutralStatus;
}

export const family: Family<Input, Want> = {
  run: ({runtimeName, podUID, sandboxes = [], containers = [], files = {}}, _case): Want => {
    const status = podStatusFromCri({
      pod: {uid: podUID, name: 'web-node1', namespace: 'default'},
      runtimeName,
      sandboxes: sandboxes.map(sandboxStatusFromJson),
      containers: containers.map(container => criContainer(container, files)),
    });
    return {podStatus: toNeutral(withoutOurOwn(status))};
  },
  // The README: messages that tell of a failed read are not compared.
  normalize: value => {
    const {podStatus} = value as Want;
    const containers = (podStatus.containers ?? []).map(container => ({
      ...container,
      message: container.message.replace(/Error on reading.*/s, 'Error on reading'),
    }));
    return {podStatus: {...podStatus, containers}};
  },
};

function criContainer(
  {podSandboxId, status}: {podSandboxId: string; status: CriJson},
  files: Readonly<Record<string, string>>,
): CriContainer {
  const cri = containerStatusFromJson(status);
  const read = (path: string | null): ReadEnd => {
    const text = path === null ? undefined : files[path];
    return text === undefined ? null : {bytes: new TextEncoder().encode(text), cut: false};
  };
  const sources = terminationSources(cri);
  const file = read(sources.file);
  const log = isLogNeeded(sources, file) ? read(sources.log) : null;
  return {podSandboxId, status: cri, message: terminationMessage(cri, file, log)};
}

/** Fields that the neutral status of the vectors does not have. */
function withoutOurOwn(status: PodRuntimeStatus): PodRuntimeStatus {
  return {
    ...status,
    containers: status.containers.map(
      ({labels: _labels, annotations: _annotations, logPath: _logPath, sandboxId: _sandboxId, ...container}) =>
        container,
    ),
  };
}
