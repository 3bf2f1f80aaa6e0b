// Label selectors as kubectl's -l takes them: `app=web,tier!=db,env in (a,b),!canary`.
// Mirrors k8s.io/apimachinery/pkg/labels Parse and Requirement.Matches.
import {UsageError} from '../../core/errors.js';

type Labels = Readonly<Record<string, string>>;

/** Whether an object with these labels is meant. */
export type LabelMatcher = (labels: Labels | undefined) => boolean;

/** Throws UsageError for a text that is not a selector. An empty one matches everything. */
export function parseLabelSelector(text: string): LabelMatcher {
  const matchers = splitRequirements(text).map(part => requirement(part.trim()));
  return labels => matchers.every(matches => matches(labels ?? {}));
}

/** Parts between commas that are not inside parentheses. */
function splitRequirements(text: string): readonly string[] {
  if (text.trim() === '') return [];
  return text.split(/,(?![^(]*\))/);
}

type Requirement = (labels: Labels) => boolean;

const KEY = String.raw`[A-Za-z0-9][-A-Za-z0-9_./]*`;
const VALUE = String.raw`[-A-Za-z0-9_.]*`;

function requirement(part: string): Requirement {
  return setRequirement(part) ?? comparison(part) ?? presence(part) ?? refuse(part);
}

function setRequirement(part: string): Requirement | null {
  const found = new RegExp(`^(${KEY})\\s+(in|notin)\\s+\\(([^()]*)\\)$`).exec(part);
  if (found === null) return null;
  const [, key = '', operator, list = ''] = found;
  const values = list.split(',').map(value => value.trim());
  if (operator === 'in') return labels => labels[key] !== undefined && values.includes(labels[key]);
  return labels => labels[key] === undefined || !values.includes(labels[key]);
}

function comparison(part: string): Requirement | null {
  const found = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`).exec(part);
  if (found === null) return null;
  const [, key = '', operator, value = ''] = found;
  return operator === '!=' ? labels => labels[key] !== value : labels => labels[key] === value;
}

function presence(part: string): Requirement | null {
  const found = new RegExp(`^(!?)\\s*(${KEY})$`).exec(part);
  if (found === null) return null;
  const [, not, key = ''] = found;
  return labels => (labels[key] !== undefined) === (not === '');
}

function refuse(part: string): never {
  throw new UsageError(`${JSON.stringify(part)} is not a label selector`, {
    hint: 'write KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY, joined by commas',
  });
}
