import {describe, expect, test} from 'vitest';
import type {Pod, Volume, VolumeMount} from '../../../src/core/pod/types.js';
import {planMounts, type MountsInput} from '../../../src/core/volumes/container-mounts.js';

const volumes: readonly Volume[] = [
  {name: 'disk', emptyDir: {}},
  {name: 'cfg', configMap: {name: 'c'}},
  {name: 'img', image: {reference: 'x'}},
];

function plan(mounts: readonly VolumeMount[], more: Partial<MountsInput> = {}): ReturnType<typeof planMounts> {
  const container = {name: 'main', volumeMounts: mounts};
  const pod: Pod = {metadata: {name: 'p', namespace: 'ns', uid: 'u'}, spec: {containers: [container], volumes}};
  return planMounts({
    pod,
    container,
    env: {SUB: 'deep', EMPTY: ''},
    supportsRecursiveReadOnly: false,
    hostsPath: null,
    ...more,
  });
}

/** One word a mount: path, source, subPath, flags. */
function words(result: ReturnType<typeof planMounts>): readonly string[] | string {
  if (!result.ok) return result.error;
  return result.mounts.map(mount => {
    const source =
      mount.source.kind === 'hosts' ? mount.source.path : `${mount.source.kind}:${mount.source.volume.name}`;
    const flags = [mount.readOnly ? 'ro' : 'rw', ...(mount.recursiveReadOnly ? ['rro'] : []), mount.propagation];
    return [mount.containerPath, source, mount.subPath, String(mount.index), ...flags].join(' ');
  });
}

describe('mounts of a container', () => {
  test.for<{
    name: string;
    mounts: readonly VolumeMount[];
    more?: Partial<MountsInput>;
    want: readonly string[] | string;
  }>([
    {
      name: 'keep their order, and /etc/hosts comes last',
      mounts: [
        {name: 'disk', mountPath: '/d'},
        {name: 'disk', mountPath: '/ro', readOnly: true},
      ],
      more: {hostsPath: '/pods/u/etc-hosts'},
      want: [
        '/d volume:disk  0 rw private',
        '/ro volume:disk  1 ro private',
        '/etc/hosts /pods/u/etc-hosts  2 rw private',
      ],
    },
    {
      name: 'leave /etc/hosts to a volume that is mounted there',
      mounts: [{name: 'disk', mountPath: '/etc/hosts', subPath: 'h'}],
      more: {hostsPath: '/pods/u/etc-hosts'},
      want: ['/etc/hosts volume:disk h 0 rw private'],
    },
    {
      name: 'of content that the agent writes are read-only',
      mounts: [{name: 'cfg', mountPath: '/c'}],
      want: ['/c volume:cfg  0 ro private'],
    },
    {
      name: 'of images are the runtime’s, with their subPath',
      mounts: [{name: 'img', mountPath: '/i', subPath: 'a'}],
      want: ['/i image:img a 0 ro private'],
    },
    {name: 'are made absolute', mounts: [{name: 'disk', mountPath: 'd'}], want: ['/d volume:disk  0 rw private']},
    {
      name: 'expand subPathExpr and clean the path',
      mounts: [{name: 'disk', mountPath: '/d', subPathExpr: 'x//$(SUB)/./$$(SUB)'}],
      want: ['/d volume:disk x/deep/$(SUB) 0 rw private'],
    },
    {
      name: 'refuse variables that are unknown or empty, all of them, by name',
      mounts: [{name: 'disk', mountPath: '/d', subPathExpr: '$(Z)$(EMPTY)$(A)'}],
      want: 'missing value for A, EMPTY, Z',
    },
    {
      name: 'refuse an absolute subPath that an expression gives',
      mounts: [{name: 'disk', mountPath: '/d', subPathExpr: '/$(SUB)'}],
      want: 'error SubPath `/deep` must not be an absolute path',
    },
    {
      name: 'refuse to climb out of the volume',
      mounts: [{name: 'disk', mountPath: '/d', subPath: 'a/../../b'}],
      want: "unable to provision SubPath `a/../../b`: must not contain '..'",
    },
    {
      name: 'refuse a volume that there is not',
      mounts: [{name: 'nope', mountPath: '/d'}],
      want: 'cannot find volume "nope" to mount into container "main"',
    },
    {
      name: 'propagate as asked',
      mounts: [
        {name: 'disk', mountPath: '/a', mountPropagation: 'HostToContainer'},
        {name: 'disk', mountPath: '/b', mountPropagation: 'Bidirectional'},
        {name: 'disk', mountPath: '/c', mountPropagation: 'None'},
      ],
      want: [
        '/a volume:disk  0 rw hostToContainer',
        '/b volume:disk  1 rw bidirectional',
        '/c volume:disk  2 rw private',
      ],
    },
    {
      name: 'are recursively read-only where the runtime can',
      mounts: [{name: 'disk', mountPath: '/a', readOnly: true, recursiveReadOnly: 'IfPossible'}],
      more: {supportsRecursiveReadOnly: true},
      want: ['/a volume:disk  0 ro rro private'],
    },
    {
      name: 'are plainly read-only where it cannot and it is only wished',
      mounts: [{name: 'disk', mountPath: '/a', readOnly: true, recursiveReadOnly: 'IfPossible'}],
      want: ['/a volume:disk  0 ro private'],
    },
    {
      name: 'are refused where it cannot and it is demanded',
      mounts: [{name: 'disk', mountPath: '/a', readOnly: true, recursiveReadOnly: 'Enabled'}],
      want: 'failed to resolve recursive read-only mode: volume "disk" requested recursive read-only mode, but it is not supported by the runtime',
    },
    {
      name: 'are refused when recursive read-only is asked of a writable mount',
      mounts: [{name: 'disk', mountPath: '/a', recursiveReadOnly: 'Enabled'}],
      want: 'failed to resolve recursive read-only mode: volume "disk" requested recursive read-only mode, but it is not read-only',
    },
  ])('$name', ({mounts, more, want}) => {
    expect(words(plan(mounts, more))).toEqual(want);
  });
});
