import {describe, expect, it, test} from 'vitest';
import {generate, staleFiles} from '../../scripts/gen-proto.js';
import {differences, type LeftOut, type ProtoFacts} from '../../scripts/proto-facts.js';
import {comparisons} from '../../scripts/verify-proto.js';

describe('the wire format', () => {
  it.for(comparisons())('of $file is what the facts say', ({proto, facts, leftOut}) => {
    expect(differences(proto, facts, leftOut)).toEqual([]);
  });

  it('is what the generated code was made from', () => {
    expect(staleFiles(generate())).toEqual([]);
  });
});

const facts: ProtoFacts = {
  package: 'p.v1',
  services: {
    S: [
      ['Do', 'Ask', 'Answer'],
      ['Watch', 'Ask', 'stream Answer'],
    ],
  },
  messages: {
    Ask: [
      [1, 'name', 'string'],
      [2, 'labels', 'map<string, string>'],
      [3, 'old', 'string', 'deprecated'],
    ],
    Answer: [
      [1, 'items', 'repeated Item'],
      [2, 'a', 'string', 'oneof one'],
      [3, 'kind', 'Kind'],
    ],
    Item: [[1, 'id', 'int64']],
  },
  enums: {'Answer.Kind': {GOOD: 0, BAD: 1}},
};
const proto: ProtoFacts = {
  ...facts,
  messages: {
    ...facts.messages,
    Answer: [
      [1, 'items', 'repeated Item'],
      [2, 'a', 'string', 'oneof one'],
      [3, 'kind', 'Answer.Kind'],
    ],
  },
};
const nothing: LeftOut = {rpcs: {}, fields: {}};

function withMessage(name: string, fields: ProtoFacts['messages'][string]): ProtoFacts {
  return {...proto, messages: {...proto.messages, [name]: fields}};
}

describe('the comparison', () => {
  it('is content with what is equal', () => {
    expect(differences(proto, facts, nothing)).toEqual([]);
  });

  test.for<[string, ProtoFacts, string]>([
    ['another package', {...proto, package: 'p.v2'}, 'package: p.v2, should be p.v1'],
    ['a missing call', {...proto, services: {S: [['Watch', 'Ask', 'stream Answer']]}}, 'rpc S.Do: missing'],
    [
      'a call that streams where it should not',
      {
        ...proto,
        services: {
          S: [
            ['Do', 'Ask', 'stream Answer'],
            ['Watch', 'Ask', 'stream Answer'],
          ],
        },
      },
      'rpc S.Do: (Ask) returns (stream Answer), should be (Ask) returns (Answer)',
    ],
    ['another number', withMessage('Item', [[2, 'id', 'int64']]), 'field Item.id: int64 = 2, should be int64 = 1'],
    ['another type', withMessage('Item', [[1, 'id', 'int32']]), 'field Item.id: int32 = 1, should be int64 = 1'],
    [
      'another label',
      withMessage('Item', [[1, 'id', 'repeated int64']]),
      'field Item.id: repeated int64 = 1, should be int64 = 1',
    ],
    ['another name', withMessage('Item', [[1, 'ID', 'int64']]), 'field Item.id: missing'],
    ['a missing field', withMessage('Item', []), 'field Item.id: missing'],
    [
      'a field too many',
      withMessage('Item', [
        [1, 'id', 'int64'],
        [2, 'more', 'string'],
      ]),
      'field Item.more: not in the facts, or reached by nothing',
    ],
    [
      'a field outside its oneof',
      withMessage('Answer', [
        [1, 'items', 'repeated Item'],
        [2, 'a', 'string'],
        [3, 'kind', 'Answer.Kind'],
      ]),
      'field Answer.a: string = 2, should be string = 2 oneof one',
    ],
    [
      'another enum value',
      {...proto, enums: {'Answer.Kind': {GOOD: 0, BAD: 2}}},
      'value Answer.Kind.BAD: 2, should be 1',
    ],
    ['a missing enum', {...proto, enums: {}}, 'enum Answer.Kind: missing'],
    [
      'a message that nothing reaches',
      withMessage('Lost', []),
      'message Lost: not in the facts, or reached by nothing',
    ],
  ])('finds %s', ([, damaged, line]) => {
    expect(differences(damaged, facts, nothing)).toContain(line);
  });

  it('does not ask for what is left out, nor for what only that reaches', () => {
    const {Item: _item, Answer: _answer, ...messages} = proto.messages;
    const smaller = {...proto, messages: {...messages, Answer: [] as const}, enums: {}};
    const fields = {'Answer.items': 'r', 'Answer.a': 'r', 'Answer.kind': 'r'};
    expect(differences(smaller, facts, {rpcs: {}, fields})).toEqual([]);
  });

  it('finds an entry of the list that is not true', () => {
    expect(differences(proto, facts, {rpcs: {'S.Do': 'r'}, fields: {}})).toContain(
      'rpc S.Do: listed as left out, but it is there',
    );
    expect(differences(proto, facts, {rpcs: {}, fields: {'Item.color': 'r'}})).toContain(
      'field Item.color: listed as left out, but the facts do not know it',
    );
  });
});
