// go-yaml.json holds short YAML texts and what Go's sigs.k8s.io/yaml (v1.6, as in Kubernetes 1.36) made of them: the
// JSON it printed, or nothing where it refused the text. Recorded by running it.
import fs from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {isManifestList, isManifestMap, JsonNumber, type ManifestValue} from '../../src/core/pod/decode-value.js';
import {splitDocuments} from '../../src/manifest/documents.js';
import {parseJson} from '../../src/manifest/json.js';
import {ManifestSyntaxError} from '../../src/manifest/syntax.js';
import {decodeManifestBytes, UnreadableTextError} from '../../src/manifest/text.js';
import {parseYaml} from '../../src/manifest/yaml.js';

const recorded = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'go-yaml.json'), 'utf8')) as [
  string,
  string?,
][];

function json(value: ManifestValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (isManifestMap(value)) {
    const keys = [...value.keys()].sort();
    return `{${keys.map(key => `${JSON.stringify(key)}:${json(value.get(key) ?? null)}`).join(',')}}`;
  }
  return isManifestList(value) ? `[${value.map(json).join(',')}]` : JSON.stringify(value);
}

/** The first document only, as the kubelet reads it. */
function read(text: string): string | undefined {
  try {
    const [first] = splitDocuments(decodeManifestBytes(Buffer.from(text)));
    return json(parseYaml(first?.text ?? '').value);
  } catch (error) {
    if (error instanceof ManifestSyntaxError || error instanceof UnreadableTextError) return undefined;
    throw error;
  }
}

test('every recorded text means what it means to Go', () => {
  expect(recorded.length).toBeGreaterThan(300);
  for (const [text, want] of recorded) {
    const got = read(text);
    expect(got, text).toEqual(want === undefined ? undefined : json(parseJson(want).value));
  }
});
