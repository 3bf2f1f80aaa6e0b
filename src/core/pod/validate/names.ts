// What names, labels, ports and addresses may look like. Each function answers the complaints about a value; none = valid.
// Mirrors k8s.io/apimachinery/pkg/util/validation and pkg/api/validation (texts are the API server's).

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const UNDERSCORED_LABEL = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const UNDERSCORED_SUBDOMAIN = `${UNDERSCORED_LABEL}(\\.${UNDERSCORED_LABEL})*`;
const QUALIFIED_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_PART})?`;

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const UNDERSCORED_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
const QUALIFIED_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

function matches(pattern: string, value: string): boolean {
  return new RegExp(`^(?:${pattern})$`).test(value);
}

function withExamples(text: string, pattern: string, ...examples: string[]): string {
  const given = examples.map(example => `'${example}', `).join(' or ');
  return `${text} (e.g. ${given}regex used for validation is '${pattern}')`;
}

function tooLongFor(value: string, max: number, unit: 'characters' | 'bytes' = 'characters'): string[] {
  return Buffer.byteLength(value) > max ? [`must be no more than ${max} ${unit}`] : [];
}

/** A label of the domain name system: container, volume and host names. */
export function dnsLabel(value: string): string[] {
  const shape = matches(LABEL, value)
    ? []
    : value.includes('.') && matches(SUBDOMAIN, value)
      ? ['must not contain dots']
      : [withExamples(LABEL_TEXT, LABEL, 'my-name', '123-abc')];
  return [...tooLongFor(value, 63), ...shape];
}

/** A subdomain: object names. */
export function dnsSubdomain(value: string): string[] {
  const shape = matches(SUBDOMAIN, value) ? [] : [withExamples(SUBDOMAIN_TEXT, SUBDOMAIN, 'example.com')];
  return [...tooLongFor(value, 253), ...shape];
}

/** An object name that something will be appended to: a trailing dash is fine. */
export function dnsSubdomainPrefix(value: string): string[] {
  return dnsSubdomain(value.endsWith('-') && value.length > 1 ? `${value.slice(0, -1)}a` : value);
}

/** A search domain: underscores are fine. */
export function dnsSubdomainWithUnderscore(value: string): string[] {
  const shape = matches(UNDERSCORED_SUBDOMAIN, value)
    ? []
    : [withExamples(UNDERSCORED_TEXT, UNDERSCORED_SUBDOMAIN, 'example.com')];
  return [...tooLongFor(value, 253), ...shape];
}

/** `name` or `prefix/name`: label and annotation keys, resource names, condition types. */
export function qualifiedName(value: string): string[] {
  const parts = value.split('/');
  if (parts.length > 2) {
    const shape = withExamples(`a valid label key ${QUALIFIED_TEXT}`, QUALIFIED_PART, 'MyName', 'my.name', '123-abc');
    return [`${shape} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const [name = '', prefix] = parts.reverse();
  const complaints: string[] = [];
  if (prefix !== undefined) {
    if (prefix === '') complaints.push('prefix part must be non-empty');
    else complaints.push(...dnsSubdomain(prefix).map(text => `prefix part ${text}`));
  }
  if (name === '') complaints.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > 63) complaints.push('name part must be no more than 63 bytes');
  if (!matches(QUALIFIED_PART, name)) {
    complaints.push(withExamples(`name part ${QUALIFIED_TEXT}`, QUALIFIED_PART, 'MyName', 'my.name', '123-abc'));
  }
  return complaints;
}

export function labelValue(value: string): string[] {
  const shape = matches(LABEL_VALUE, value)
    ? []
    : [withExamples(LABEL_VALUE_TEXT, LABEL_VALUE, 'MyValue', 'my_value', '12345')];
  return [...tooLongFor(value, 63, 'bytes'), ...shape];
}

/** Any printable ASCII but the equals sign (RelaxedEnvironmentVariableValidation). */
export function environmentVariableName(value: string): string[] {
  if (value === '') return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** A key of a ConfigMap or Secret. */
export function configMapKey(value: string): string[] {
  const complaints = tooLongFor(value, 253);
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) {
    const text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    complaints.push(withExamples(text, '[-._a-zA-Z0-9]+', 'key.name', 'KEY_NAME', 'key-name'));
  }
  if (value === '.') complaints.push("must not be '.'");
  else if (value === '..') complaints.push("must not be '..'");
  else if (value.startsWith('..')) complaints.push("must not start with '..'");
  return complaints;
}

/** A port's name (IANA_SVC_NAME). */
export function portName(value: string): string[] {
  const complaints = tooLongFor(value, 15);
  if (!/^[-a-z0-9]+$/.test(value)) {
    complaints.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) complaints.push('must contain at least one letter (a-z)');
  if (value.includes('--')) complaints.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) complaints.push('must not begin or end with a hyphen');
  return complaints;
}

export function portNumber(value: number): string[] {
  return value >= 1 && value <= 65_535 ? [] : [inclusiveRange(1, 65_535)];
}

/** A user or group id. */
export function unixId(value: number): string[] {
  return value >= 0 && value <= 2_147_483_647 ? [] : [inclusiveRange(0, 2_147_483_647)];
}

export function inclusiveRange(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

export function httpHeaderName(value: string): string[] {
  const pattern = '[-A-Za-z0-9]+';
  return matches(pattern, value)
    ? []
    : [withExamples("a valid HTTP header must consist of alphanumeric characters or '-'", pattern, 'X-Header-Name')];
}

/** Complaints of the strict address parser; zones and IPv4 in IPv6 notation count as invalid too. */
export function ipAddress(value: string): string[] {
  if (/^\d+(\.\d+){3}$/.test(value)) {
    const parts = value.split('.');
    if (parts.some(part => Number(part) > 255 || part.length > 3)) return [NOT_AN_ADDRESS];
    return parts.some(part => part.length > 1 && part.startsWith('0')) ? ['must not have leading 0s'] : [];
  }
  if (!isIPv6(value)) return [NOT_AN_ADDRESS];
  return /^::ffff:\d+\./i.test(value) ? ['must not be an IPv4-mapped IPv6 address'] : [];
}

const NOT_AN_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

function isIPv6(value: string): boolean {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(value);
  const groups = dotted?.[1] === undefined ? value : `${dotted[1]}0:0`;
  if (dotted?.[2]?.split('.').some(part => Number(part) > 255) === true) return false;
  const [head = '', tail, ...more] = groups.split('::');
  if (more.length > 0) return false;
  const list = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const all = [...list(head), ...list(tail ?? '')];
  if (!all.every(group => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return tail === undefined ? all.length === 8 : all.length <= 7;
}
