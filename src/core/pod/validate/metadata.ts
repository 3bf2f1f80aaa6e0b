// Metadata of a pod, and the annotations that mean something to a kubelet.
// Mirrors k8s.io/apimachinery/pkg/api/validation ValidateObjectMeta and kubernetes ValidatePodSpecificAnnotations.
import type {ObjectMeta, OwnerReference, PodSpec} from '../types.js';
import {dnsLabel, dnsSubdomain, dnsSubdomainPrefix, qualifiedName} from './names.js';
import {localDescendingPath} from './paths.js';
import {forbidden, invalid, invalidFor, notNegative, required, tooLong, type Problems} from './problem.js';
import {labels} from './selectors.js';
import {containersOf} from './windows.js';

const MAX_ANNOTATION_BYTES = 256 * 1024;

export function* podMetadata(path: string, meta: ObjectMeta, spec: PodSpec): Problems {
  const {name = '', generateName = '', namespace = ''} = meta;
  if (generateName !== '') {
    yield* invalidFor(`${path}.generateName`, generateName, dnsSubdomainPrefix(generateName));
  }
  if (name === '') yield required(`${path}.name`, 'name or generateName is required');
  else yield* invalidFor(`${path}.name`, name, dnsSubdomain(name));
  if (namespace === '') yield required(`${path}.namespace`);
  else yield* invalidFor(`${path}.namespace`, namespace, dnsLabel(namespace));
  yield* notNegative(`${path}.generation`, meta.generation);
  yield* labels(`${path}.labels`, meta.labels);
  yield* annotations(`${path}.annotations`, meta.annotations ?? {}, spec);
  yield* ownerReferences(`${path}.ownerReferences`, meta.ownerReferences ?? []);
  yield* finalizers(`${path}.finalizers`, meta.finalizers ?? []);
}

function* annotations(path: string, given: Readonly<Record<string, string>>, spec: PodSpec): Problems {
  let bytes = 0;
  for (const [key, value] of Object.entries(given)) {
    yield* invalidFor(path, key, qualifiedName(key.toLowerCase()));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) yield tooLong(path, MAX_ANNOTATION_BYTES);
  if (given['kubernetes.io/config.mirror'] !== undefined && (spec.nodeName ?? '') === '') {
    const value = given['kubernetes.io/config.mirror'];
    const detail = 'must set spec.nodeName if mirror pod annotation is set';
    yield invalid(`${path}[kubernetes.io/config.mirror]`, value, detail);
  }
  const cost = given[DELETION_COST];
  if (cost !== undefined && !isInt32Text(cost)) {
    yield invalid(`${path}[${DELETION_COST}]`, cost, 'must be a 32bit integer');
  }
  yield* profileAnnotations(path, given, spec);
}

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

function isInt32Text(text: string): boolean {
  return text === '0' || (/^-?[1-9][0-9]{0,9}$/.test(text) && Math.abs(Number(text) + 0.5) < 2 ** 31);
}

/** Annotations of old that chose seccomp and AppArmor profiles. */
function* profileAnnotations(path: string, given: Readonly<Record<string, string>>, spec: PodSpec): Problems {
  for (const [key, value] of Object.entries(given)) {
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) {
      const own = `${path}.${key}`;
      if (value.startsWith('localhost/')) yield* localDescendingPath(own, value.slice('localhost/'.length));
      else if (!['runtime/default', 'docker/default', 'unconfined'].includes(value)) {
        yield invalid(own, value, 'must be a valid seccomp profile');
      }
    } else if (key.startsWith(APPARMOR_CONTAINER)) {
      const name = key.slice(APPARMOR_CONTAINER.length);
      if (!containersOf('', spec).some(([, container]) => container.name === name)) {
        yield invalid(`${path}[${key}]`, name, 'container not found');
      }
      if (!['', 'runtime/default', 'unconfined'].includes(value) && !value.startsWith('localhost/')) {
        yield invalid(`${path}[${key}]`, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`);
      }
    }
  }
}

export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
export const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';

function* ownerReferences(path: string, owners: readonly OwnerReference[]): Problems {
  let controller: string | undefined;
  for (const owner of owners) {
    const version = /^(?:[^/]+\/)?([^/]+)$/.exec(owner.apiVersion)?.[1] ?? '';
    if (version === '') yield invalid(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty');
    for (const field of ['kind', 'name', 'uid'] as const) {
      if (owner[field] === '') yield invalid(`${path}.${field}`, owner[field], 'must not be empty');
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      yield invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner');
    }
    if (owner.controller !== true) continue;
    if (controller !== undefined) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${owner.name}`;
      yield invalid(path, owners, detail);
    } else controller = owner.name;
  }
}

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

function* finalizers(path: string, given: readonly string[]): Problems {
  for (const [index, name] of given.entries()) {
    const own = `${path}[${index}]`;
    const complaints = qualifiedName(name);
    yield* invalidFor(own, name, complaints);
    if (!name.includes('/') && !STANDARD_FINALIZERS.includes(name)) {
      yield invalid(own, name, 'name is neither a standard finalizer name nor is it fully qualified');
    }
  }
  if (given.includes('orphan') && given.includes('foregroundDeletion')) {
    yield forbidden(path, 'finalizers orphan and foregroundDeletion cannot both be set');
  }
}
