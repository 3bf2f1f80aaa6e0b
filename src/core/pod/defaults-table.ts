// The API's default values as a versioned table: what a field means that nobody wrote. A static pod's uid is a hash of
// its defaulted manifest, so a published version never changes: new defaults of the API become a new version, and the
// uid stays with the old one.
// Mirrors kubelet v1.36 pkg/apis/core/v1 defaults.go and the +default markers of k8s.io/api/core/v1.

/** Values set where the field is absent, or empty if the API makes no difference. */
type FieldDefaults = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Defaults that depend on other fields; what each does is said in defaults.ts. */
export type DefaultRule =
  | 'requests-from-limits'
  | 'pod-level-hugepage-limits'
  | 'pod-level-requests'
  | 'host-network-ports'
  | 'image-pull-policy'
  | 'empty-volume'
  | 'whole-millis';

export interface DefaultsTable {
  readonly version: number;
  readonly fields: FieldDefaults;
  readonly rules: ReadonlySet<DefaultRule>;
}

const FILE_MODE = 0o644;
const CONTAINER = {terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File'};

/** Kubernetes 1.36. Frozen: the golden uids of the tests depend on it. */
const DEFAULTS_V1: DefaultsTable = {
  version: 1,
  rules: new Set([
    'requests-from-limits',
    'pod-level-hugepage-limits',
    'pod-level-requests',
    'host-network-ports',
    'image-pull-policy',
    'empty-volume',
    'whole-millis',
  ]),
  fields: {
    PodSpec: {
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    },
    Container: CONTAINER,
    EphemeralContainer: CONTAINER,
    ContainerPort: {protocol: 'TCP'},
    Probe: {timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3},
    HTTPGetAction: {path: '/', scheme: 'HTTP'},
    GRPCAction: {service: ''},
    ObjectFieldSelector: {apiVersion: 'v1'},
    ResourceFieldSelector: {divisor: '0'},
    FileKeySelector: {optional: false},
    HostPathVolumeSource: {type: ''},
    SecretVolumeSource: {defaultMode: FILE_MODE},
    ConfigMapVolumeSource: {defaultMode: FILE_MODE},
    DownwardAPIVolumeSource: {defaultMode: FILE_MODE},
    ProjectedVolumeSource: {defaultMode: FILE_MODE},
    ServiceAccountTokenProjection: {expirationSeconds: 3600},
    ISCSIVolumeSource: {iscsiInterface: 'default'},
    RBDVolumeSource: {pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring'},
    AzureDiskVolumeSource: {cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared'},
    ScaleIOVolumeSource: {storageMode: 'ThinProvisioned', fsType: 'xfs'},
    PersistentVolumeClaimSpec: {volumeMode: 'Filesystem'},
  },
};

/** `current`: what a pod is run with. `identity`: what its uid is made from, for ever. */
export const DEFAULTS: {readonly current: DefaultsTable; readonly identity: DefaultsTable} = {
  current: DEFAULTS_V1,
  identity: DEFAULTS_V1,
};
