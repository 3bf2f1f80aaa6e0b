// A manifest decoded, defaulted and named as the file source does, then validated.
import type {FieldErrorType} from '../../../src/core/errors.js';
import {apiReferences} from '../../../src/core/pod/api-references.js';
import {decodeObject} from '../../../src/core/pod/decode.js';
import {makeStaticPod} from '../../../src/core/pod/static-pod.js';
import {validatePod} from '../../../src/core/pod/validate.js';
import {parseJson} from '../../../src/manifest/json.js';
import type {Family} from '../family.js';

interface Input {
  readonly pod: unknown;
}

interface Want {
  readonly decodeError?: string;
  readonly errors?: readonly {readonly field: string; readonly type: string; readonly message: string}[];
  readonly apiReference?: string;
}

/** field.ErrorType as the vectors spell it. */
const TYPE_NAMES: Partial<Record<FieldErrorType, string>> = {
  FieldValueRequired: 'Required',
  FieldValueInvalid: 'Invalid',
  FieldValueNotSupported: 'NotSupported',
  FieldValueDuplicate: 'Duplicate',
  FieldValueForbidden: 'Forbidden',
  FieldValueNotFound: 'NotFound',
  FieldValueTooLong: 'TooLong',
  FieldValueTooMany: 'TooMany',
  FieldValueTypeInvalid: 'TypeInvalid',
};

export const family: Family<Input, Want> = {
  run({pod: manifest}) {
    const {value, errors} = decodeObject('Pod', parseJson(JSON.stringify(manifest)).value);
    if (errors.length > 0) return {decodeError: errors.map(error => `${error.path}: ${error.detail}`).join('; ')};
    const origin = {nodeName: 'node1', source: '/etc/kubernetes/manifests/pod.yaml', isFile: true};
    const pod = makeStaticPod(value, origin);
    const problems = validatePod(pod).map(({path, type}) => ({field: path, type: TYPE_NAMES[type] ?? type}));
    if (problems.length > 0) return {errors: problems};
    return {errors: [], apiReference: apiReferences(pod.spec)[0]?.resource ?? ''};
  },
  // Texts are for orientation, and the errors are a multiset of field and type.
  normalize(value) {
    const {decodeError, errors = [], apiReference} = value as Want;
    const keys = errors.map(({field, type}) => `${field} ${type}`).sort();
    return {decodeError: decodeError !== undefined, errors: keys, apiReference};
  },
};
