// What `minikubelet validate --as-kubelet` makes of a file or a directory.
import type {Pod} from '../../../src/core/pod/types.js';
import {judgeAsKubelet, judgeDirectoryAsKubelet} from '../../../src/manifest/as-kubelet.js';
import type {Family} from '../family.js';

type Input =
  | {readonly kind: 'file'; readonly file: string; readonly nodeName: string; readonly text: string}
  | {
      readonly kind: 'dir';
      readonly dir: string;
      readonly nodeName: string;
      readonly files: Readonly<Record<string, string>>;
    };

interface Want {
  readonly pod?: unknown;
  readonly errorClass?: string;
  readonly error?: string;
  readonly uidHashInput?: string;
  readonly read?: readonly Entry[];
  readonly store?: readonly Entry[];
}

interface Entry {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string | null;
  readonly image: string | undefined;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const family: Family<Input, Want> = {
  run(input) {
    if (input.kind === 'file') {
      const verdict = judgeAsKubelet(bytes(input.text), {
        source: input.file,
        nodeName: input.nodeName,
        isFile: true,
      });
      return verdict.taken ? {pod: verdict.pod} : {errorClass: verdict.errorClass};
    }
    const files = Object.entries(input.files).map(([name, text]) => ({name, bytes: bytes(text)}));
    const {read, store} = judgeDirectoryAsKubelet(files, input.dir, input.nodeName);
    return {read: read.map(({pod}) => entry(pod)), store: store.map(entry)};
  },
  // Texts are for orientation. A made-up uid hashes the memory of one version of the kubelet: only given ones count.
  normalize(value, _side, input) {
    const {error: _error, uidHashInput: _dump, ...answer} = value as Want;
    return JSON.parse(JSON.stringify(answer), (key, inner: unknown) =>
      (key === 'uid' || key === 'kubernetes.io/config.hash') && !givenUids(input).has(String(inner)) ? null : inner,
    ) as unknown;
  },
};

function entry({metadata, spec}: Pod): Entry {
  const {name, namespace, uid} = metadata;
  return {name, namespace, uid, image: spec.containers[0]?.image};
}

/** Values of uid: in the manifests. A uid that stands in none was made up. */
function givenUids(input: Input): ReadonlySet<string> {
  const texts = input.kind === 'file' ? [input.text] : Object.values(input.files);
  return new Set(texts.flatMap(text => [...text.matchAll(/uid"?\s*:\s*"?([^\s",}]+)/g)].map(match => match[1] ?? '')));
}
