// Small manifests, and reading them as the agent does.
import {readManifestTexts} from '../../src/manifest/read-texts.js';
import type {Interpret} from '../../src/sources/snapshot.js';

export const interpretForTests: Interpret = files =>
  readManifestTexts(files, {nodeName: 'node1', validate: 'strict', requireReferences: false});

export function podYaml(name: string, image = 'docker.io/library/busybox:1.36'): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  containers:
  - {name: main, image: "${image}", command: [sleep, "1000"]}
`;
}
