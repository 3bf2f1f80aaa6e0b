import {describe, expect, test} from 'vitest';
import {applyPodDefaults} from '../../../src/core/pod/defaults.js';
import {DEFAULTS} from '../../../src/core/pod/defaults-table.js';
import type {Container, PodSpec} from '../../../src/core/pod/types.gen.js';

const CONTAINER: Container = {name: 'c', image: 'i:1'};

const defaulted = (spec: Partial<PodSpec> = {}): PodSpec =>
  applyPodDefaults({metadata: {name: 'p'}, spec: {containers: [CONTAINER], ...spec}}).spec;

const container = (fields: Partial<Container>): Container | undefined =>
  defaulted({containers: [{...CONTAINER, ...fields}]}).containers[0];

test('a minimal pod gets what the API gives every pod', () => {
  expect(defaulted()).toEqual({
    containers: [
      {
        ...CONTAINER,
        imagePullPolicy: 'IfNotPresent',
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
});

test('a pod without a spec is a pod without containers', () => {
  expect(applyPodDefaults({}).spec).toMatchObject({containers: [], dnsPolicy: 'ClusterFirst'});
});

test('defaulting twice changes nothing more', () => {
  const once = applyPodDefaults({
    spec: {
      containers: [{...CONTAINER, resources: {limits: {cpu: '1'}}, ports: [{containerPort: 80}]}],
      hostNetwork: true,
      volumes: [{name: 'v'}],
      resources: {limits: {memory: '1Gi'}},
    },
  });
  expect(applyPodDefaults(once)).toEqual(once);
});

test('what is given stays', () => {
  const spec: PodSpec = {
    containers: [CONTAINER],
    dnsPolicy: 'None',
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 0,
    restartPolicy: 'Never',
  };
  expect(defaulted(spec)).toMatchObject({...spec, containers: [CONTAINER]});
});

test('a negative grace period becomes 1', () => {
  expect(defaulted({terminationGracePeriodSeconds: -5}).terminationGracePeriodSeconds).toBe(1);
});

test('the old name of the service account is the new one', () => {
  expect(defaulted({serviceAccount: 'a'})).toMatchObject({serviceAccount: 'a', serviceAccountName: 'a'});
});

describe('containers', () => {
  test.for([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['reg:5000/a/b', 'Always'],
    ['reg:5000/a/b:v1', 'IfNotPresent'],
    [`nginx@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
    [`nginx:latest@sha256:${'0'.repeat(64)}`, 'Always'],
    ['nginx:', 'IfNotPresent'],
  ] as const)('the image %s is pulled %s', ([image, want]) => {
    expect(container({image})?.imagePullPolicy).toBe(want);
  });

  test('limits fill in for requests that are missing', () => {
    const resources = {limits: {cpu: '1', memory: '64Mi'}, requests: {cpu: '100m'}};
    expect(container({resources})?.resources?.requests).toEqual({cpu: '100m', memory: '64Mi'});
  });

  test('no more than thousandths of a resource are kept', () => {
    const resources = {limits: {cpu: '100u', memory: '1500n'}};
    expect(container({resources})?.resources?.limits).toEqual({cpu: '1m', memory: '1m'});
  });

  test('probes, ports, hooks and field references are completed', () => {
    expect(
      container({
        ports: [{containerPort: 80}],
        livenessProbe: {grpc: {port: 9000}},
        lifecycle: {preStop: {httpGet: {port: 80}}},
        env: [
          {name: 'F', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}},
          {name: 'R', valueFrom: {resourceFieldRef: {resource: 'limits.cpu'}}},
          {name: 'K', valueFrom: {fileKeyRef: {key: 'k', path: 'p', volumeName: 'v'}}},
        ],
      }),
    ).toMatchObject({
      ports: [{protocol: 'TCP'}],
      livenessProbe: {
        grpc: {port: 9000, service: ''},
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
      lifecycle: {preStop: {httpGet: {path: '/', scheme: 'HTTP'}}},
      env: [
        {valueFrom: {fieldRef: {apiVersion: 'v1'}}},
        {valueFrom: {resourceFieldRef: {divisor: '0'}}},
        {valueFrom: {fileKeyRef: {optional: false}}},
      ],
    });
  });

  test('on the host network a port is the host port, unless another is given', () => {
    const ports = [{containerPort: 80}, {containerPort: 81, hostPort: 9081}];
    const spec = defaulted({hostNetwork: true, containers: [{...CONTAINER, ports}]});
    expect(spec.containers[0]?.ports?.map(({hostPort}) => hostPort)).toEqual([80, 9081]);
    expect(defaulted({containers: [{...CONTAINER, ports}]}).containers[0]?.ports?.[0]?.hostPort).toBeUndefined();
  });
});

describe('volumes', () => {
  test('without a source are empty directories', () => {
    expect(defaulted({volumes: [{name: 'v'}]}).volumes).toEqual([{name: 'v', emptyDir: {}}]);
  });

  test('get the modes and types of their kinds', () => {
    const volumes = [
      {name: 'a', hostPath: {path: '/'}},
      {name: 'b', secret: {secretName: 's'}},
      {name: 'c', configMap: {name: 'm', defaultMode: 0o400}},
      {name: 'd', downwardAPI: {items: [{path: 'p', fieldRef: {fieldPath: 'metadata.name'}}]}},
      {name: 'e', projected: {sources: [{serviceAccountToken: {path: 't'}}]}},
      {name: 'f', image: {reference: 'r:1'}},
    ];
    expect(defaulted({volumes}).volumes).toEqual([
      {name: 'a', hostPath: {path: '/', type: ''}},
      {name: 'b', secret: {secretName: 's', defaultMode: 420}},
      {name: 'c', configMap: {name: 'm', defaultMode: 256}},
      {
        name: 'd',
        downwardAPI: {items: [{path: 'p', fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.name'}}], defaultMode: 420},
      },
      {
        name: 'e',
        projected: {sources: [{serviceAccountToken: {path: 't', expirationSeconds: 3600}}], defaultMode: 420},
      },
      {name: 'f', image: {reference: 'r:1', pullPolicy: 'IfNotPresent'}},
    ]);
  });
});

describe('resources of the pod as a whole', () => {
  const limited = (spec: Partial<PodSpec>): PodSpec['resources'] => defaulted(spec).resources;

  test('limits alone are the requests, too', () => {
    expect(limited({resources: {limits: {cpu: '1', memory: '128Mi'}}})).toEqual({
      limits: {cpu: '1', memory: '128Mi'},
      requests: {cpu: '1', memory: '128Mi'},
    });
  });

  test('what containers request counts before the limit', () => {
    const containers = [
      {...CONTAINER, resources: {requests: {cpu: '100m'}}},
      {...CONTAINER, name: 'd', resources: {requests: {cpu: '200m'}}},
    ];
    expect(limited({containers, resources: {limits: {cpu: '1', memory: '1Gi'}}})?.requests).toEqual({
      cpu: '300m',
      memory: '1Gi',
    });
  });

  test('requests alone lead to nothing', () => {
    expect(limited({resources: {requests: {cpu: '1'}}})).toEqual({requests: {cpu: '1'}});
  });

  test('huge page limits of containers become the limit of the pod', () => {
    const containers = [{...CONTAINER, resources: {limits: {'hugepages-2Mi': '4Mi', memory: '32Mi'}}}];
    expect(limited({containers, resources: {limits: {memory: '64Mi'}}})?.limits).toEqual({
      memory: '64Mi',
      'hugepages-2Mi': '4Mi',
    });
  });
});

test('rules and values that a table does not have are not applied', () => {
  const table = {version: 0, fields: {PodSpec: {dnsPolicy: 'Default'}}, rules: new Set<never>()};
  const pod = applyPodDefaults({spec: {containers: [CONTAINER], volumes: [{name: 'v'}]}}, table);
  expect(pod.spec).toEqual({containers: [CONTAINER], volumes: [{name: 'v'}], dnsPolicy: 'Default'});
  expect(DEFAULTS.identity.version).toBe(1);
});
