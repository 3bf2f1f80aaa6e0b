// Does the rest of the machine fit: capabilities, mounts, images, disks, another kubelet?
import type {DiskFacts, HostFacts} from '../facts.js';
import type {Answer} from './check-runtime.js';
import {fine, type Finding} from './finding.js';

export function oomScoreFinding({daemonCanLowerOOMScore}: HostFacts, {config}: Answer): Finding {
  const check = 'oom-score';
  if (daemonCanLowerOOMScore === null) {
    return {
      check,
      level: 'unknown',
      message: 'the capabilities of the runtime could not be read',
      remedy: 'run as root, in the process namespace of the runtime',
    };
  }
  if (daemonCanLowerOOMScore) return fine(check, 'the runtime may set every oom_score_adj');
  if (config?.restrictOOMScoreAdj === true) {
    return fine(check, 'no CAP_SYS_RESOURCE: the runtime keeps oom_score_adj at what it may set');
  }
  return {
    check,
    level: 'error',
    message: 'the runtime has no CAP_SYS_RESOURCE and may not lower oom_score_adj: no pod can start',
    remedy:
      'set restrict_oom_score_adj = true under [plugins."io.containerd.grpc.v1.cri"] and restart it, ' +
      'or use the embedded runtime (minikubelet runtime start)',
  };
}

export function mountFinding({mountsReachDaemon, embedded}: HostFacts): Finding {
  const check = 'mounts';
  if (mountsReachDaemon === true) return fine(check, 'what is mounted below the root directory reaches the runtime');
  if (mountsReachDaemon !== false) {
    return {
      check,
      level: 'unknown',
      message: mountsReachDaemon,
      remedy: 'run as root, in the process namespace of the runtime',
    };
  }
  return {
    check,
    level: 'error',
    message:
      'mounts below the root directory do not reach the runtime: volumes in memory, secrets and subPaths would be empty',
    remedy: embedded
      ? 'minikubelet runtime stop, then minikubelet runtime start'
      : 'mount --make-rshared / before the runtime starts, and take PrivateMounts and MountFlags out of its unit',
  };
}

export function pauseImageFinding({hasSandboxImage}: HostFacts, {config}: Answer): readonly Finding[] {
  if (config === null || config.sandboxImage === '' || hasSandboxImage === null) return [];
  const check = 'pause-image';
  if (hasSandboxImage) return [fine(check, config.sandboxImage)];
  return [
    {
      check,
      level: 'warning',
      message: `the image ${config.sandboxImage} that holds a pod together is not there: the first pod pulls it`,
      remedy: `where no registry can be reached, load it: ctr -n k8s.io images import FILE, or use the embedded runtime`,
    },
  ];
}

/** Of the capacity; a kubelet evicts below 10 % (15 % for images). */
const LOW = 0.15;
const FULL = 0.05;

export function diskFindings({disks}: HostFacts): readonly Finding[] {
  const worst = disks.filter(disk => freeShare(disk) < LOW);
  if (worst.length === 0) return [fine('disk', disks.map(disk => `${disk.path} ${percent(disk)} free`).join(', '))];
  return worst.map(disk => ({
    check: 'disk',
    level: freeShare(disk) < FULL ? 'error' : 'warning',
    message: `only ${percent(disk)} (${Math.floor(disk.freeBytes / 2 ** 20)} MiB) is free at ${disk.path}, for ${disk.purpose}`,
    remedy: 'remove images, logs or other files there, or use another --root-dir',
  }));
}

function freeShare({freeBytes, totalBytes}: DiskFacts): number {
  return totalBytes === 0 ? 1 : freeBytes / totalBytes;
}

function percent(disk: DiskFacts): string {
  return `${Math.floor(freeShare(disk) * 100)} %`;
}

export function kubeletFinding({kubelets, endpoint}: HostFacts): Finding {
  const check = 'kubelet';
  const same = kubelets.find(kubelet => kubelet.sameRuntime);
  if (same !== undefined) {
    return {
      check,
      level: 'error',
      message: `a kubelet (pid ${same.pid}) drives ${endpoint}, too: it stops pods that it does not know within seconds`,
      remedy: 'use the embedded runtime (minikubelet runtime start, and -r with its endpoint), or stop the kubelet',
    };
  }
  const [other] = kubelets;
  if (other === undefined) return fine(check, 'no kubelet on this machine');
  return fine(check, `a kubelet (pid ${other.pid}) runs here, on another runtime (${other.socket})`);
}
