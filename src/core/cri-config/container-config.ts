// The config of one container instance.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go generateContainerConfig and
// kuberuntime_container_linux.go applyPlatformSpecificContainerConfig.
import {MountPropagation, Signal, type ContainerConfig, type Mount} from '../../cri/gen/cri.js';
import {envText} from '../pod/env.js';
import {expandVariables, type VariableLookup} from '../pod/expansion.js';
import {containerAnnotations, containerLabels} from './labels.js';
import {containerResources} from './resources.js';
import {containerSecurity} from './security-context.js';
import type {AnyContainer, ContainerConfigInput, EnvEntry} from './types.js';

/** Throws PodError or Error, both of which mean CreateContainerConfigError, for what must not or cannot run. */
export function containerConfig(input: ContainerConfigInput): ContainerConfig {
  const {pod, container, restartCount, node, env} = input;
  const expand = (words: readonly string[] | undefined): string[] =>
    (words ?? []).map(word => expandVariables(word, lookupIn(env)));
  return {
    metadata: {name: container.name, attempt: restartCount},
    image: {
      image: input.imageRef,
      annotations: {},
      userSpecifiedImage: container.image ?? '',
      runtimeHandler: '',
      imageRef: '',
    },
    command: expand(container.command),
    args: expand(container.args),
    workingDir: container.workingDir ?? '',
    envs: env.map(({name, value}) => ({key: name, value: Buffer.from(value)})),
    mounts: mountsOf(input),
    devices: [...(input.devices ?? [])],
    labels: containerLabels(pod, container, input.ownership),
    annotations: containerAnnotations(pod, container, restartCount),
    logPath: `${container.name}/${restartCount}.log`,
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    linux: {
      resources: containerResources(pod, container, node),
      securityContext: containerSecurity(input),
    },
    CDIDevices: [],
    stopSignal: stopSignal(container),
  };
}

function lookupIn(env: readonly EnvEntry[]): VariableLookup {
  const values = new Map(env.map(({name, value}) => [name, envText(value)]));
  return name => values.get(name);
}

/** The termination log comes last. With a user namespace of its own, files show the pod's owners. */
function mountsOf({container, mounts, terminationLogPath = '', userNamespace}: ContainerConfigInput): Mount[] {
  const {terminationMessagePath = ''} = container;
  const log =
    terminationLogPath === '' || terminationMessagePath === '' ? [] : [[terminationMessagePath, terminationLogPath]];
  const all = [
    ...mounts,
    ...log.map(([containerPath = '', hostPath = '']) => ({...PLAIN_MOUNT, containerPath, hostPath})),
  ];
  if (userNamespace === undefined) return all;
  const {uids, gids} = userNamespace;
  return all.map(mount => ({...mount, uidMappings: uids, gidMappings: gids}));
}

/** A writable mount without propagation: what every kind of mount starts from. */
export const PLAIN_MOUNT: Mount = {
  containerPath: '',
  hostPath: '',
  readonly: false,
  selinuxRelabel: false,
  propagation: MountPropagation.PROPAGATION_PRIVATE,
  uidMappings: [],
  gidMappings: [],
  recursiveReadOnly: false,
  image: undefined,
  imageSubPath: '',
  mountOptions: [],
};

/** Differs from the kubelet, whose gate ContainerStopSignals is off by default: a stop signal that is set is sent. */
function stopSignal({lifecycle}: AnyContainer): Signal {
  const byName: Readonly<Record<string, Signal | undefined>> = Signal;
  return byName[`SIGNAL_${lifecycle?.stopSignal ?? 'RUNTIME_DEFAULT'}`] ?? Signal.SIGNAL_RUNTIME_DEFAULT;
}
