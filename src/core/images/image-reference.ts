// Reads image names as Docker and the kubelet do: the registry that a short name means, its tag, its digest.
// Mirrors github.com/distribution/reference (ParseNormalizedNamed) and kubelet v1.36 pkg/util/parsers ParseImageName.
import {goQuote} from '../go-text.js';

interface ImageReference {
  /** Registry and path with the implied parts written out, e.g. docker.io/library/nginx. What credentials are looked up for. */
  readonly repository: string;
  /** As written; 'latest' when there is neither tag nor digest; '' when there is only a digest. */
  readonly tag: string;
  /** e.g. sha256:...; '' = none. */
  readonly digest: string;
}

export type ParsedImage =
  {readonly ok: true; readonly reference: ImageReference} | {readonly ok: false; readonly problem: string};

const DEFAULT_REGISTRY = 'docker.io';
const LEGACY_DEFAULT_REGISTRY = 'index.docker.io';
const LONGEST_PATH = 255;

const COMPONENT = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const LABEL = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const REFERENCE = new RegExp(`^((?:${HOST}/)?(${COMPONENT}(?:/${COMPONENT})*))(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const BARE_ID = /^[a-f0-9]{64}$/;
/** Hex digits of a digest, by algorithm. */
const DIGEST_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

/** Parses an image name; `problem` is the text that the kubelet puts into its message. */
export function parseImageReference(image: string): ParsedImage {
  const problem = (text: string): ParsedImage => ({
    ok: false,
    problem: `couldn't parse image name ${goQuote(image)}: ${text}`,
  });
  if (BARE_ID.test(image)) {
    return problem(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  }
  const {registry, rest} = splitRegistry(image);
  const path = rest.split(':', 1)[0] ?? '';
  if (path !== path.toLowerCase()) {
    return problem(`invalid reference format: repository name (${path}) must be lowercase`);
  }
  const match = REFERENCE.exec(`${registry}/${rest}`);
  if (match === null) return problem(shapeProblem(`${registry}/${rest}`));
  const [, repository = '', matchedPath = '', tag = '', digest = ''] = match;
  if (matchedPath.length > LONGEST_PATH) {
    return problem(`repository name must not be more than ${LONGEST_PATH} characters`);
  }
  const wrongDigest = digest === '' ? null : digestProblem(digest);
  if (wrongDigest !== null) return problem(wrongDigest);
  return {ok: true, reference: {repository, tag: tag === '' && digest === '' ? 'latest' : tag, digest}};
}

/**
 * The name to look up and to pull: `:latest` is added when there is neither tag nor digest, and nothing else is written
 * out, so that the runtime's own rules for short names stay in force.
 */
export function applyDefaultImageTag(
  image: string,
): {readonly ok: true; readonly image: string} | {readonly ok: false; readonly problem: string} {
  const parsed = parseImageReference(image);
  if (!parsed.ok) return parsed;
  const {tag, digest} = parsed.reference;
  return {ok: true, image: digest === '' && !image.endsWith(`:${tag}`) ? `${image}:${tag}` : image};
}

/** The pull policy of a container that names none: Always for the tag latest, written or implied. */
export function defaultImagePullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const parsed = parseImageReference(image);
  return parsed.ok && parsed.reference.tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Only a first part that looks like a host is a registry; all else is a path on Docker Hub. */
function splitRegistry(image: string): {registry: string; rest: string} {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const isPath = slash === -1 || (!/[.:]/.test(first) && first !== 'localhost' && first === first.toLowerCase());
  const registry = isPath || first === LEGACY_DEFAULT_REGISTRY ? DEFAULT_REGISTRY : first;
  const rest = isPath ? image : image.slice(slash + 1);
  return {registry, rest: registry === DEFAULT_REGISTRY && !rest.includes('/') ? `library/${rest}` : rest};
}

function shapeProblem(name: string): string {
  return REFERENCE.test(name.toLowerCase()) ? 'repository name must be lowercase' : 'invalid reference format';
}

function digestProblem(digest: string): string | null {
  const [algorithm = '', encoded = ''] = digest.split(':');
  const length = DIGEST_LENGTHS.get(algorithm);
  if (length === undefined) return 'unsupported digest algorithm';
  if (encoded.length !== length) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(encoded) ? null : 'invalid checksum digest format';
}
