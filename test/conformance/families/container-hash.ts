import {hashAnnotation, hashContainer, hashedFields, hashInput} from '../../../src/core/pod/container-hash.js';
import type {Container} from '../../../src/core/pod/types.js';
import type {Family} from '../family.js';

interface Input {
  readonly container: Container;
}

interface Want {
  readonly annotation: string;
  readonly hash: string;
  readonly hashInput: string;
  readonly picked: string;
}

export const family: Family<Input, Want> = {
  run: ({container}): Want => ({
    annotation: hashAnnotation(container),
    hash: hashContainer(container),
    hashInput: hashInput(container),
    picked: hashedFields(container),
  }),
};
