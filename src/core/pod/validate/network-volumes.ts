// Kinds of volumes that need a storage system behind them. No node can serve them alone, but a manifest that has one is
// judged by the API's rules before it is refused.
// Mirrors kubernetes v1.36 pkg/apis/core/validation validateVolumeSource and the functions below it.
import type {Volume} from '../types.js';
import {inclusiveRange} from './names.js';
import {localDescendingPath} from './paths.js';
import {invalid, notSupported, required, type Problems} from './problem.js';

type Rule = (path: string, volume: Volume) => Problems;
type NetworkKind = keyof typeof RULES & keyof Volume;

/** Rules of these kinds, in the order given; `path` is the volume's. */
export function networkVolumeRules(kinds: readonly NetworkKind[]): readonly (readonly [keyof Volume, Rule])[] {
  return kinds.map(kind => [kind, (path, volume) => RULES[kind](path, volume)]);
}

/** Required for each of `fields` that is empty. */
function* needs<T extends object>(
  path: string,
  source: T | undefined,
  fields: readonly (keyof T & string)[],
): Problems {
  for (const field of fields) {
    const value: unknown = source?.[field];
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) {
      yield required(`${path}.${field}`);
    }
  }
}

function* within(path: string, value: number | undefined, low: number, high: number): Problems {
  if (value !== undefined && (value < Math.min(low, 0) || value > high)) {
    yield invalid(path, value, inclusiveRange(low, high));
  }
}

const RULES = {
  *gitRepo(path: string, {gitRepo}: Volume): Problems {
    yield* needs(`${path}.gitRepo`, gitRepo, ['repository']);
    yield* localDescendingPath(`${path}.gitRepo.directory`, gitRepo?.directory ?? '');
  },
  *gcePersistentDisk(path: string, {gcePersistentDisk: disk}: Volume): Problems {
    yield* needs(`${path}.persistentDisk`, disk, ['pdName']);
    yield* within(`${path}.persistentDisk.partition`, disk?.partition, 1, 255);
  },
  *awsElasticBlockStore(path: string, {awsElasticBlockStore: disk}: Volume): Problems {
    yield* needs(`${path}.awsElasticBlockStore`, disk, ['volumeID']);
    yield* within(`${path}.awsElasticBlockStore.partition`, disk?.partition, 1, 255);
  },
  *nfs(path: string, {nfs}: Volume): Problems {
    yield* needs(`${path}.nfs`, nfs, ['server', 'path']);
    if (nfs?.path.startsWith('/') !== true) yield invalid(`${path}.nfs.path`, nfs?.path, 'must be an absolute path');
  },
  *iscsi(path: string, {iscsi, name}: Volume): Problems {
    const own = `${path}.iscsi`;
    yield* needs(own, iscsi, ['targetPortal', 'iqn']);
    if (iscsi === undefined) return;
    if (iscsi.iqn !== '') yield* iscsiName(`${own}.iqn`, iscsi.iqn);
    yield* within(`${own}.lun`, iscsi.lun, 0, 255);
    if ((iscsi.chapAuthDiscovery ?? false) || (iscsi.chapAuthSession ?? false)) {
      yield* needs(own, iscsi, ['secretRef']);
    }
    if (iscsi.initiatorName === undefined) return;
    yield* iscsiName(`${own}.initiatorname`, iscsi.initiatorName);
    if (`${name}:${iscsi.targetPortal}`.length > 64) {
      const detail =
        'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
      yield invalid(`${path}.name`, name, detail);
    }
  },
  *glusterfs(path: string, {glusterfs}: Volume): Problems {
    yield* needs(`${path}.glusterfs`, glusterfs, ['endpoints', 'path']);
  },
  *flocker(path: string, {flocker}: Volume): Problems {
    const own = `${path}.flocker`;
    const {datasetName = '', datasetUUID = ''} = flocker ?? {};
    if (datasetName === '' && datasetUUID === '') {
      yield required(own, 'one of datasetName and datasetUUID is required');
    }
    if (datasetName !== '' && datasetUUID !== '') {
      yield invalid(own, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
    }
    if (datasetName.includes('/')) yield invalid(`${own}.datasetName`, datasetName, "must not contain '/'");
  },
  *persistentVolumeClaim(path: string, {persistentVolumeClaim: claim}: Volume): Problems {
    yield* needs(`${path}.persistentVolumeClaim`, claim, ['claimName']);
  },
  *rbd(path: string, {rbd}: Volume): Problems {
    yield* needs(`${path}.rbd`, rbd, ['monitors', 'image']);
  },
  *cinder(path: string, {cinder}: Volume): Problems {
    yield* needs(`${path}.cinder`, cinder, ['volumeID']);
    if (cinder?.secretRef !== undefined) yield* needs(`${path}.cinder.secretRef`, cinder.secretRef, ['name']);
  },
  *cephfs(path: string, {cephfs}: Volume): Problems {
    yield* needs(`${path}.cephfs`, cephfs, ['monitors']);
  },
  *quobyte(path: string, {quobyte}: Volume): Problems {
    const own = `${path}.quobyte`;
    const pairs = 'must be a host:port pair or multiple pairs separated by commas';
    const {registry = '', tenant = ''} = quobyte ?? {};
    if (registry === '') yield required(`${own}.registry`, pairs);
    else if (tenant.length >= 65) {
      yield required(`${own}.tenant`, 'must be a UUID and may not exceed a length of 64 characters');
    } else {
      for (const pair of registry.split(',')) {
        if (!/^(\[[^\]]*\]|[^:]*):[^:]*$/.test(pair)) yield invalid(`${own}.registry`, registry, pairs);
      }
    }
    yield* needs(own, quobyte, ['volume']);
  },
  *fc(path: string, {fc}: Volume): Problems {
    const {targetWWNs = [], wwids = [], lun} = fc ?? {};
    const own = `${path}.fc.targetWWNs`;
    if (targetWWNs.length === 0 && wwids.length === 0) {
      yield required(own, 'must specify either targetWWNs or wwids, but not both');
    }
    if (targetWWNs.length > 0 && wwids.length > 0) {
      yield invalid(own, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
    }
    if (targetWWNs.length === 0) return;
    if (lun === undefined) yield required(`${path}.fc.lun`, 'lun is required if targetWWNs is specified');
    yield* within(`${path}.fc.lun`, lun, 0, 255);
  },
  *flexVolume(path: string, {flexVolume}: Volume): Problems {
    yield* needs(`${path}.flexVolume`, flexVolume, ['driver']);
    for (const key of Object.keys(flexVolume?.options ?? {})) {
      const namespace = `.${(key.split('/')[0] ?? '').toLowerCase()}`;
      if (namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io')) {
        const detail = 'kubernetes.io and k8s.io namespaces are reserved';
        yield invalid(`${path}.flexVolume.options[${key}]`, key, detail);
      }
    }
  },
  *azureFile(path: string, {azureFile}: Volume): Problems {
    yield* needs(`${path}.azureFile`, azureFile, ['secretName', 'shareName']);
  },
  *vsphereVolume(path: string, {vsphereVolume}: Volume): Problems {
    yield* needs(`${path}.vsphereVolume`, vsphereVolume, ['volumePath']);
  },
  *photonPersistentDisk(path: string, {photonPersistentDisk}: Volume): Problems {
    yield* needs(`${path}.photonPersistentDisk`, photonPersistentDisk, ['pdID']);
  },
  *portworxVolume(path: string, {portworxVolume}: Volume): Problems {
    yield* needs(`${path}.portworxVolume`, portworxVolume, ['volumeID']);
  },
  *azureDisk(path: string, {azureDisk: disk}: Volume): Problems {
    const own = `${path}.azureDisk`;
    yield* needs(own, disk, ['diskName', 'diskURI']);
    const {cachingMode, kind, diskURI = ''} = disk ?? {};
    const modes = ['None', 'ReadOnly', 'ReadWrite'];
    const kinds = ['Dedicated', 'Managed', 'Shared'];
    if (cachingMode !== undefined && !modes.includes(cachingMode)) {
      yield notSupported(`${own}.cachingMode`, cachingMode, modes);
    }
    if (kind !== undefined && !kinds.includes(kind)) yield notSupported(`${own}.kind`, kind, kinds);
    const prefix = kind === 'Managed' ? '/subscriptions/' : 'https://';
    if (kind !== undefined && !diskURI.startsWith(prefix))
      yield notSupported(`${own}.diskURI`, diskURI, [`${prefix}...`]);
  },
  *storageos(path: string, {storageos}: Volume): Problems {
    yield* needs(`${path}.storageos`, storageos, ['volumeName']);
    if (storageos?.secretRef !== undefined) yield* needs(`${path}.storageos.secretRef`, storageos.secretRef, ['name']);
  },
  *scaleIO(path: string, {scaleIO}: Volume): Problems {
    yield* needs(`${path}.scaleIO`, scaleIO, ['gateway', 'system', 'volumeName']);
  },
  *csi(path: string, {csi}: Volume): Problems {
    yield* needs(`${path}.csi`, csi, ['driver']);
    if (csi?.nodePublishSecretRef !== undefined) {
      yield* needs(`${path}.csi.nodePublishSecretRef`, csi.nodePublishSecretRef, ['name']);
    }
  },
  *ephemeral(path: string, {ephemeral}: Volume): Problems {
    yield* needs(`${path}.ephemeral`, ephemeral, ['volumeClaimTemplate']);
  },
};

function* iscsiName(path: string, name: string): Problems {
  const shapes: Record<string, RegExp> = {
    iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/,
    eui: /^eui.[A-Za-z0-9]{16}$/,
    naa: /^naa.[A-Za-z0-9]{32}$/,
  };
  const shape = shapes[name.slice(0, 3)];
  if (shape === undefined) yield invalid(path, name, 'must be valid format starting with iqn, eui, or naa');
  else if (!shape.test(name)) yield invalid(path, name, 'must be valid format');
}
