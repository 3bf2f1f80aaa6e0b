// Reads .proto files into the form of proto-facts.ts, through buf's own parser.
import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import type {FieldFact, ProtoFacts} from './proto-facts.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

// What is used of a FileDescriptorSet in JSON.
interface FileDescriptor {
  readonly name: string;
  readonly package: string;
  readonly messageType?: readonly MessageDescriptor[];
  readonly enumType?: readonly EnumDescriptor[];
  readonly service?: readonly ServiceDescriptor[];
}
interface MessageDescriptor {
  readonly name: string;
  readonly field?: readonly FieldDescriptor[];
  readonly nestedType?: readonly MessageDescriptor[];
  readonly enumType?: readonly EnumDescriptor[];
  readonly oneofDecl?: readonly {readonly name: string}[];
  readonly options?: {readonly mapEntry?: boolean};
}
interface FieldDescriptor {
  readonly name: string;
  readonly number: number;
  readonly label: 'LABEL_OPTIONAL' | 'LABEL_REPEATED';
  readonly type: string;
  readonly typeName?: string;
  readonly oneofIndex?: number;
  readonly options?: {readonly deprecated?: boolean};
}
interface EnumDescriptor {
  readonly name: string;
  readonly value: readonly {readonly name: string; readonly number: number}[];
}
interface ServiceDescriptor {
  readonly name: string;
  readonly method?: readonly {
    readonly name: string;
    readonly inputType: string;
    readonly outputType: string;
    readonly serverStreaming?: boolean;
    readonly clientStreaming?: boolean;
  }[];
}

/** What proto/<file> says. */
export function readProto(file: string): ProtoFacts {
  const args = ['build', 'proto', '--path', `proto/${file}`, '--exclude-source-info', '-o', '-#format=json'];
  const text = execFileSync(path.join(ROOT, 'node_modules/.bin/buf'), args, {cwd: ROOT, encoding: 'utf8'});
  const {file: files} = JSON.parse(text) as {readonly file: readonly FileDescriptor[]};
  const descriptor = files.find(one => one.name === file);
  if (descriptor === undefined) throw new Error(`buf did not read proto/${file}`);
  return factsOf(descriptor);
}

function factsOf(file: FileDescriptor): ProtoFacts {
  const prefix = `.${file.package}.`;
  const local = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  const messages: Record<string, readonly FieldFact[]> = {};
  const enums: Record<string, Readonly<Record<string, number>>> = {};
  const addEnum = (outer: string, one: EnumDescriptor): void => {
    enums[outer + one.name] = Object.fromEntries(one.value.map(({name, number}) => [name, number]));
  };
  const addMessage = (outer: string, one: MessageDescriptor): void => {
    const name = outer + one.name;
    messages[name] = (one.field ?? []).map(field => fieldFact(field, one, local));
    for (const nested of one.nestedType ?? []) if (nested.options?.mapEntry !== true) addMessage(`${name}.`, nested);
    for (const nested of one.enumType ?? []) addEnum(`${name}.`, nested);
  };
  for (const message of file.messageType ?? []) addMessage('', message);
  for (const one of file.enumType ?? []) addEnum('', one);
  const services = Object.fromEntries(
    (file.service ?? []).map(service => [
      service.name,
      (service.method ?? []).map(
        ({name, inputType, outputType, clientStreaming, serverStreaming}) =>
          [name, streamed(clientStreaming, local(inputType)), streamed(serverStreaming, local(outputType))] as const,
      ),
    ]),
  );
  return {package: file.package, services, messages, enums};
}

function streamed(isStream: boolean | undefined, type: string): string {
  return isStream === true ? `stream ${type}` : type;
}

function fieldFact(field: FieldDescriptor, message: MessageDescriptor, local: (name: string) => string): FieldFact {
  const oneof = field.oneofIndex === undefined ? undefined : message.oneofDecl?.[field.oneofIndex]?.name;
  const flags = [
    ...(field.options?.deprecated === true ? ['deprecated'] : []),
    ...(oneof === undefined ? [] : [`oneof ${oneof}`]),
  ];
  return [field.number, field.name, fieldType(field, message, local), ...flags];
}

function fieldType(field: FieldDescriptor, message: MessageDescriptor, local: (name: string) => string): string {
  const entry = (message.nestedType ?? []).find(
    nested => nested.options?.mapEntry === true && field.typeName?.endsWith(`.${message.name}.${nested.name}`) === true,
  );
  if (entry !== undefined) {
    const [key, value] = (entry.field ?? []).map(part => scalarOrName(part, local));
    return `map<${key}, ${value}>`;
  }
  const name = scalarOrName(field, local);
  return field.label === 'LABEL_REPEATED' ? `repeated ${name}` : name;
}

function scalarOrName(field: FieldDescriptor, local: (name: string) => string): string {
  return field.typeName === undefined ? field.type.replace('TYPE_', '').toLowerCase() : local(field.typeName);
}
