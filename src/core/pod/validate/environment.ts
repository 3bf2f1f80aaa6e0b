// Environment variables of a container.
// Mirrors kubernetes v1.36 pkg/apis/core/validation ValidateEnv, ValidateEnvFrom.
import type {EnvFromSource, EnvVar, EnvVarSource, FileKeySelector, Volume} from '../types.js';
import {ENV_FIELDS, objectFieldSelector, resourceFieldSelector} from './field-selectors.js';
import {configMapKey, dnsSubdomain, dnsSubdomainPrefix, environmentVariableName} from './names.js';
import {localNonReservedPath} from './paths.js';
import {invalid, invalidFor, notFound, required, type Problems} from './problem.js';

/** `volumes`: the pod's valid volumes by name. */
export function* environment(path: string, vars: readonly EnvVar[], volumes: ReadonlyMap<string, Volume>): Problems {
  for (const [index, variable] of vars.entries()) {
    const own = `${path}[${index}]`;
    if (variable.name === '') yield required(`${own}.name`);
    else yield* invalidFor(`${own}.name`, variable.name, environmentVariableName(variable.name));
    if (variable.valueFrom !== undefined) yield* valueFrom(`${own}.valueFrom`, variable, variable.valueFrom, volumes);
  }
}

function* valueFrom(
  path: string,
  variable: EnvVar,
  source: EnvVarSource,
  volumes: ReadonlyMap<string, Volume>,
): Problems {
  const {fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef} = source;
  if (fieldRef !== undefined) yield* objectFieldSelector(`${path}.fieldRef`, fieldRef, ENV_FIELDS);
  if (resourceFieldRef !== undefined) yield* resourceFieldSelector(`${path}.resourceFieldRef`, resourceFieldRef, 'env');
  if (configMapKeyRef !== undefined) yield* keySelector(`${path}.configMapKeyRef`, configMapKeyRef);
  if (secretKeyRef !== undefined) yield* keySelector(`${path}.secretKeyRef`, secretKeyRef);
  if (fileKeyRef !== undefined) yield* fileKeySelector(`${path}.fileKeyRef`, fileKeyRef, volumes);
  const given = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(
    one => one !== undefined,
  );
  if (given.length === 0) {
    const names = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    yield invalid(path, '', `must specify one of: ${names}`);
  } else if ((variable.value ?? '') !== '') yield invalid(path, '', 'may not be specified when `value` is not empty');
  else if (given.length > 1) yield invalid(path, '', 'may not have more than one field specified at a time');
}

function* keySelector(path: string, selector: {readonly name?: string; readonly key: string}): Problems {
  const name = selector.name ?? '';
  yield* invalidFor(`${path}.name`, name, dnsSubdomain(name));
  if (selector.key === '') yield required(`${path}.key`);
  else yield* invalidFor(`${path}.key`, selector.key, configMapKey(selector.key));
}

function* fileKeySelector(path: string, selector: FileKeySelector, volumes: ReadonlyMap<string, Volume>): Problems {
  const {key, path: file, volumeName} = selector;
  if (key === '') yield required(`${path}.key`);
  else yield* invalidFor(`${path}.key`, key, environmentVariableName(key));
  if (volumeName === '') yield required(`${path}.volumeName`);
  else {
    const volume = volumes.get(volumeName);
    if (volume === undefined) yield notFound(`${path}.volumeName`, volumeName);
    else if (volume.emptyDir === undefined) {
      yield invalid(`${path}.volumeName`, volumeName, 'referenced volume must be of type emptyDir');
    }
  }
  if (file === '') yield required(`${path}.path`);
  else yield* localNonReservedPath(`${path}.path`, file);
}

export function* environmentFrom(path: string, sources: readonly EnvFromSource[]): Problems {
  for (const [index, source] of sources.entries()) {
    const own = `${path}[${index}]`;
    const {prefix = '', configMapRef, secretRef} = source;
    if (prefix !== '') yield* invalidFor(`${own}.prefix`, prefix, environmentVariableName(prefix));
    if (configMapRef !== undefined) yield* objectReference(`${own}.configMapRef`, configMapRef.name);
    if (secretRef !== undefined) yield* objectReference(`${own}.secretRef`, secretRef.name);
    if (configMapRef === undefined && secretRef === undefined) {
      yield invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`');
    } else if (configMapRef !== undefined && secretRef !== undefined) {
      yield invalid(path, '', 'may not have more than one field specified at a time');
    }
  }
}

function* objectReference(path: string, name = ''): Problems {
  if (name === '') yield required(`${path}.name`);
  else yield* invalidFor(`${path}.name`, name, dnsSubdomainPrefix(name));
}
