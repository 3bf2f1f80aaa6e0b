// The pods of the soak: each kind that the agent treats in a way of its own, a few plain ones to be edited and removed, and two
// that nobody ever touches.
import type {Pod} from '../../../src/core/pod/types.js';
import {
  aContainer,
  aProbe,
  aSidecar,
  withContainers,
  withInitContainers,
  withMetadata,
  withRestartPolicy,
  withSpec,
  type PodChange,
} from '../../support/builders.js';
import {namedPod, type World} from '../world.js';

/** Nothing happens to these, so nothing may be done to them. */
export const CALM = ['calm-0', 'calm-1'] as const;
/** Goes on crashing whatever happens. */
export const CRASHING = 'crash';

const slowProbe = {periodSeconds: 10, failureThreshold: 1};

const KINDS: Readonly<Record<string, readonly PodChange[]>> = {
  'calm-0': [],
  'calm-1': [withInitContainers('setup')],
  [CRASHING]: [withContainers('crasher')],
  job: [withContainers('worker'), withRestartPolicy('OnFailure')],
  chain: [withInitContainers('setup', 'migrate')],
  'sidecar-job': [
    withContainers('worker'),
    withInitContainers(aSidecar('proxy'), 'setup'),
    withRestartPolicy('OnFailure'),
  ],
  probed: [withContainers(aContainer('probed', {livenessProbe: aProbe(slowProbe), readinessProbe: aProbe(slowProbe)}))],
  'web-0': [withSpec({terminationGracePeriodSeconds: 5})],
  'web-1': [withContainers('main', 'slow-to-stop')],
  'web-2': [withContainers('stubborn'), withSpec({terminationGracePeriodSeconds: 4})],
  'web-3': [withSpec({hostNetwork: true})],
};

export const NAMES: readonly string[] = Object.keys(KINDS);

/** A version of one of them; each version has a uid of its own. */
export function castPod(name: string, version: number): Pod {
  return namedPod(name, ...(KINDS[name] ?? []), withMetadata({uid: `uid-${name}-${version}`}), present);
}

function present({spec, ...pod}: Pod): Pod {
  const local = <T extends object>(container: T): T => ({...container, imagePullPolicy: 'IfNotPresent'});
  return {
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers.map(local),
      ...(spec.initContainers !== undefined && {initContainers: spec.initContainers.map(local)}),
    },
  };
}

/** Whether the pod is to come to its end by itself. */
export function isJob(name: string): boolean {
  return name.endsWith('job');
}

export function teachRuntime({runtime}: World): void {
  runtime.behave('setup', {exitAfterMs: 300});
  runtime.behave('migrate', {exitAfterMs: 900});
  runtime.behave('worker', {exitAfterMs: 20_000});
  runtime.behave('crasher', {exitAfterMs: 3000, exitCode: 1});
  runtime.behave('slow-to-stop', {onStop: {exitAfterMs: 2500, exitCode: 0}});
  runtime.behave('stubborn', {onStop: 'ignore'});
}
