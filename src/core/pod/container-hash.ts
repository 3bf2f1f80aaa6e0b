// The fingerprint of a container definition: what decides "definition changed". Only name and image count.
// Mirrors kubelet v1.36 pkg/kubelet/container/helpers.go HashContainer.
import {memoizeByIdentity} from '../../lib/memoize.js';
import type {Container} from './types.js';

/** The part of a container that the fingerprint covers. */
export type HashedContainer = Pick<Container, 'name' | 'image'>;

/** The fingerprint as decimal text, the form of RuntimeContainerStatus.hash. */
export function hashContainer(container: HashedContainer): string {
  return fingerprint(container).toString(10);
}

/** The fingerprint as the runtime container's annotation holds it: lower-case hex, no leading zeros. */
export function hashAnnotation(container: HashedContainer): string {
  return fingerprint(container).toString(16);
}

/** Decimal text of an annotation's fingerprint; "0" when it is missing, damaged or wider than 64 bits. */
export function hashFromAnnotation(annotation: string | undefined): string {
  if (annotation === undefined || !/^[0-9a-fA-F]+$/.test(annotation)) return '0';
  const value = BigInt(`0x${annotation}`);
  return value > MAX_UINT64 ? '0' : value.toString(10);
}

/** JSON text of the fields that count, as Go writes it: keys sorted, and <, >, & and line separators escaped. */
export function hashedFields({name, image}: HashedContainer): string {
  return `{"image":${goJsonString(image ?? '')},"name":${goJsonString(name)}}`;
}

/** What is fed to the hash: the JSON bytes as the kubelet's object dump lists them. */
export function hashInput(container: HashedContainer): string {
  return `([]uint8)[${UTF8.encode(hashedFields(container)).join(' ')}]`;
}

const UTF8 = new TextEncoder();
const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;
const FNV_OFFSET_32 = 0x811c9dc5;
const FNV_PRIME_32 = 0x01000193;

/** 32-bit FNV-1a of the hash input. Asked of every running container at every sync, so it is worth remembering. */
const fingerprint = memoizeByIdentity((container: HashedContainer): number => {
  const bytes = UTF8.encode(hashInput(container));
  let hash = FNV_OFFSET_32;
  // By index: an iterator makes an object of each of the hundreds of bytes.
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), FNV_PRIME_32) >>> 0;
  return hash;
});

function goJsonString(text: string): string {
  return JSON.stringify(text.replace(LONE_SURROGATES, '\ufffd')).replace(
    ESCAPED_BY_GO,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const LONE_SURROGATES = /\p{Surrogate}/gu;
const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g;
