// CRI messages as proto3 JSON (the vectors' way) to the generated types: what is left out has its default.
import {
  ContainerState,
  ContainerStatus,
  MountPropagation,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatus,
  type Mount,
} from '../../src/cri/gen/cri.js';

export type CriJson = Readonly<Record<string, unknown>>;

interface StatusJson extends Omit<ContainerStatus, 'state' | 'createdAt' | 'startedAt' | 'finishedAt' | 'mounts'> {
  readonly state?: keyof typeof ContainerState;
  readonly createdAt?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly mounts?: readonly Partial<Mount>[];
}

export function containerStatusFromJson(json: CriJson): ContainerStatus {
  const {state, createdAt, startedAt, finishedAt, mounts, ...rest} = json as unknown as StatusJson;
  return ContainerStatus.fromPartial({
    ...rest,
    state: ContainerState[state ?? 'CONTAINER_CREATED'],
    createdAt: BigInt(createdAt ?? 0),
    startedAt: BigInt(startedAt ?? 0),
    finishedAt: BigInt(finishedAt ?? 0),
    mounts: (mounts ?? []).map(mount => ({...mount, propagation: MountPropagation.PROPAGATION_PRIVATE})),
  });
}

interface SandboxJson extends Omit<PodSandboxStatus, 'state' | 'createdAt' | 'linux'> {
  readonly state?: keyof typeof PodSandboxState;
  readonly createdAt?: string;
  readonly linux?: {readonly namespaces?: {readonly options?: {readonly network?: keyof typeof NamespaceMode}}};
}

export function sandboxStatusFromJson(json: CriJson): PodSandboxStatus {
  const {state, createdAt, linux, ...rest} = json as unknown as SandboxJson;
  const network = NamespaceMode[linux?.namespaces?.options?.network ?? 'POD'];
  return PodSandboxStatus.fromPartial({
    ...rest,
    state: PodSandboxState[state ?? 'SANDBOX_READY'],
    createdAt: BigInt(createdAt ?? 0),
    linux: {namespaces: {options: {network}}},
  });
}
