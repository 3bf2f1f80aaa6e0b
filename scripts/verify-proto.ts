// npm run verify-proto: holds proto/ to the facts in test/contract/facts, every name, number and type of them, and says
// what is left out on purpose. Exits with 1 on any difference.
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {differences, unreached, type LeftOut, type ProtoFacts} from './proto-facts.js';
import {readProto} from './read-proto.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A .proto file with the facts it is held to. */
export interface Comparison {
  readonly file: string;
  readonly proto: ProtoFacts;
  readonly facts: ProtoFacts;
  readonly leftOut: LeftOut;
}

/** Reads the .proto files of a runtime and their facts. */
export function comparisons(): readonly Comparison[] {
  return [
    {
      file: 'cri.proto',
      proto: readProto('cri.proto'),
      facts: readJson('test/contract/facts/runtime-v1.json') as ProtoFacts,
      leftOut: readJson('proto/left-out.json') as LeftOut,
    },
    {
      file: 'containerd-events.proto',
      proto: withoutEventTypes(readProto('containerd-events.proto')),
      facts: eventFacts(),
      leftOut: {rpcs: {}, fields: {}},
    },
    {
      file: 'containerd-content.proto',
      proto: readProto('containerd-content.proto'),
      facts: readJson('test/contract/facts/containerd-content.json') as ProtoFacts,
      leftOut: {rpcs: {}, fields: {}},
    },
  ];
}

/** Events are reached through Any, by name only: what they hold is compared as if the service gave them. */
function withoutEventTypes(proto: ProtoFacts): ProtoFacts {
  const events = Object.keys(proto.messages).filter(name => name.startsWith('Task'));
  return {...proto, services: {...proto.services, events: events.map(name => [name, name, name] as const)}};
}

/** The facts of containerd's event service, which tell method and well-known types in words. */
function eventFacts(): ProtoFacts {
  const facts = readJson('test/contract/facts/containerd-events.json') as EventFacts;
  const [, packageName = '', service = '', rpc = ''] = /^\/(\S+)\.(\w+)\/(\w+) /.exec(facts.method) ?? [];
  const wellKnown = Object.fromEntries(
    ['Any', 'Timestamp'].map(name => {
      const fields = new RegExp(`${name} = (\\[\\[.*?\\]\\])`).exec(facts.about)?.[1] ?? '[]';
      return [name, JSON.parse(fields.replaceAll("'", '"')) as ProtoFacts['messages'][string]];
    }),
  );
  const events = Object.keys(facts.messages).filter(name => name.startsWith('Task'));
  return {
    package: packageName,
    services: {
      [service]: [[rpc, 'SubscribeRequest', 'stream Envelope']],
      events: events.map(name => [name, name, name] as const),
    },
    messages: {...facts.messages, ...wellKnown},
    enums: {},
  };
}

interface EventFacts {
  readonly about: string;
  readonly method: string;
  readonly messages: ProtoFacts['messages'];
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
}

function main(): void {
  for (const {file, proto, facts, leftOut} of comparisons()) {
    const wrong = differences(proto, facts, leftOut);
    for (const line of wrong) console.error(`proto/${file}: ${line}`);
    if (wrong.length > 0) process.exitCode = 1;
    const fields = Object.values(proto.messages).reduce((sum, message) => sum + message.length, 0);
    const messages = Object.keys(proto.messages).length;
    const enums = Object.keys(proto.enums).length;
    console.log(
      `proto/${file}: ${messages} messages with ${fields} fields, ${enums} enums, ${wrong.length} differences`,
    );
    const reasons = Object.entries({...leftOut.rpcs, ...leftOut.fields});
    if (reasons.length === 0) continue;
    console.log('left out on purpose (proto/left-out.json):');
    for (const [name, reason] of reasons) console.log(`  ${name}: ${reason}`);
    console.log(`  and what only these reach: ${unreached(facts, leftOut).join(', ')}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
