// $(VAR) references in environment values, command lines and subPathExpr. `$$` is a dollar; a reference without
// definition stays as it is.
// Mirrors kubelet v1.36 third_party/forked/golang/expansion and pkg/kubelet/container/helpers.go Expand*.
import {fromByteString, toByteString} from '../byte-string.js';
import type {EnvVar} from './types.js';

/** The value of a variable, undefined = not defined. */
export type VariableLookup = (name: string) => string | undefined;

/** Replaces the references of a text. */
export function expandVariables(text: string, lookup: VariableLookup): string {
  const byByteString: VariableLookup = name => {
    const value = lookup(fromByteString(name));
    return value === undefined ? undefined : toByteString(value);
  };
  return fromByteString(expandByteString(toByteString(text), byByteString));
}

/** expandVariables on byte strings: text, names and values. */
export function expandByteString(text: string, lookup: VariableLookup): string {
  return text.replace(REFERENCE, (_all, dollar: string | undefined, name: string | undefined, other: string) => {
    if (dollar !== undefined) return dollar;
    if (name !== undefined) return lookup(name) ?? `$(${name})`;
    // The kubelet takes the byte behind a lone dollar for a character of its own.
    return `$${toByteString(other)}`;
  });
}

const REFERENCE = /\$(?:(\$)|\(([^)]*)\)|([\s\S]))/g;

/**
 * An exec probe's command. Only literal values count: the probe has no access to the environment as the container sees
 * it, and a variable that is set from elsewhere is empty.
 */
export function expandWithLiterals(command: readonly string[], env: readonly EnvVar[] | undefined): string[] {
  const values = new Map(env?.map(({name, value = ''}) => [name, value]));
  return command.map(word => expandVariables(word, name => values.get(name)));
}
