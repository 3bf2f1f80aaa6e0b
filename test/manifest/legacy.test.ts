import {describe, expect, test} from 'vitest';
import {readManifestTexts} from '../../src/manifest/read-texts.js';
import type {ManifestSet} from '../../src/manifest/types.js';

const read = (text: string): ManifestSet =>
  readManifestTexts([{file: 'a.yaml', bytes: Buffer.from(text), isFile: true}], {
    nodeName: 'box',
    validate: 'strict',
    requireReferences: true,
  });

const MANIFEST = `version: v1beta2
id: web
uuid: 0f0e0d0c
restartPolicy: {onFailure: {}}
dnsPolicy: Default
hostNetwork: true
volumes:
- {name: data, source: {hostDir: {path: /data}}}
- {name: tmp, source: {emptyDir: {}}}
containers:
- name: nginx
  image: "nginx:1"
  entrypoint: [/bin/nginx]
  command: [-g, daemon off;]
  workingDir: /srv
  memory: 67108864
  cpu: 250
  privileged: true
  imagePullPolicy: PullIfNotPresent
  ports: [{name: http, containerPort: 80, hostPort: 80, protocol: tcp}]
  env: [{name: A, value: b}, {key: C, value: d}]
  volumeMounts: [{name: data, mountPath: /d, readOnly: true}, {name: tmp, path: /t}]
  livenessProbe: {type: http, httpGet: {path: /, port: "80"}, initialDelaySeconds: 5}
`;

test('a manifest of the first kubelet is a pod', () => {
  const {pods, problems} = read(MANIFEST.replace('port: "80"', 'port: 80'));
  expect(problems).toEqual([]);
  expect(pods[0]?.pod).toMatchObject({
    metadata: {name: 'web-box', uid: '0f0e0d0c'},
    spec: {
      restartPolicy: 'OnFailure',
      dnsPolicy: 'Default',
      hostNetwork: true,
      volumes: [
        {name: 'data', hostPath: {path: '/data'}},
        {name: 'tmp', emptyDir: {}},
      ],
      containers: [
        {
          name: 'nginx',
          image: 'nginx:1',
          command: ['/bin/nginx'],
          args: ['-g', 'daemon off;'],
          workingDir: '/srv',
          imagePullPolicy: 'IfNotPresent',
          resources: {limits: {memory: '67108864', cpu: '250m'}},
          securityContext: {privileged: true},
          ports: [{name: 'http', containerPort: 80, hostPort: 80, protocol: 'TCP'}],
          env: [
            {name: 'A', value: 'b'},
            {name: 'C', value: 'd'},
          ],
          volumeMounts: [
            {name: 'data', mountPath: '/d', readOnly: true},
            {name: 'tmp', mountPath: '/t'},
          ],
          livenessProbe: {httpGet: {path: '/', port: 80}, initialDelaySeconds: 5},
        },
      ],
    },
  });
});

const SMALL = 'version: v1beta1\nid: web\ncontainers:\n- name: c\n  image: "i:1"\n';

test('both versions are read', () => {
  expect(read(SMALL).pods).toHaveLength(1);
  expect(read(SMALL.replace('v1beta1', 'v1beta2')).pods).toHaveLength(1);
});

describe('what does not fit is said at its place', () => {
  test.for<[string, string, string]>([
    ['an id that cannot be a name', SMALL.replace('id: web', 'id: my_web'), 'id 2'],
    ['no id', SMALL.replace('id: web\n', ''), 'id 1'],
    ['an unknown field', `${SMALL}volums: []\n`, 'volums 6'],
    ['an unknown field of a container', SMALL.replace('image:', 'imge:'), 'containers[0].imge 5'],
    ['a wrong type', SMALL.replace('"i:1"', '[]'), 'containers[0].image 5'],
    ['an invalid value', SMALL.replace('name: c', 'name: C'), 'containers[0].name 4'],
    [
      'a volume of a kind there never was',
      `${SMALL}volumes: [{name: v, source: {bogus: {}}}]\n`,
      'volumes[0].source.bogus 6',
    ],
  ])('%s', ([, text, want]) => {
    const {problems} = read(text);
    expect(problems.map(({path, position}) => `${path} ${position.line ?? 0}`)).toContain(want);
  });
});
