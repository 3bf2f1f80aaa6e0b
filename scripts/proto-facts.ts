// Compares what a .proto file says with published facts about the wire: names, numbers, types. Pure.

/** [number, name, type, ...flags]; a type may be "repeated T" or "map<K, V>", a flag "deprecated" or "oneof NAME". */
export type FieldFact = readonly [number: number, name: string, type: string, ...flags: string[]];

/** Messages and enums by name, nested ones as Outer.Inner; services by name. */
export interface ProtoFacts {
  readonly package: string;
  /** [name, request, response]; a streamed one as "stream T". */
  readonly services: Readonly<Record<string, readonly (readonly [string, string, string])[]>>;
  readonly messages: Readonly<Record<string, readonly FieldFact[]>>;
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** What is missing on purpose: "Service.Rpc" and "Message.field" to the reason. */
export interface LeftOut {
  readonly rpcs: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

/** Every disagreement, one line each; empty = the file says what the facts say, but for what is left out. */
export function differences(proto: ProtoFacts, facts: ProtoFacts, leftOut: LeftOut): readonly string[] {
  const wanted = without(facts, leftOut);
  return [
    ...(proto.package === facts.package ? [] : [`package: ${proto.package}, should be ${facts.package}`]),
    ...untrueEntries(proto, facts, leftOut),
    ...compareServices(proto, wanted),
    ...compareNamed('message', proto.messages, wanted.messages, compareFields),
    ...compareNamed('enum', proto.enums, wanted.enums, compareValues),
  ];
}

/** Messages and enums of the facts that nothing kept reaches. */
export function unreached(facts: ProtoFacts, leftOut: LeftOut): readonly string[] {
  const wanted = without(facts, leftOut);
  const all = [...Object.keys(facts.messages), ...Object.keys(facts.enums)];
  return all.filter(name => !(name in wanted.messages) && !(name in wanted.enums));
}

/** The facts without what is left out, and without what is then no longer reached from any RPC. */
function without(facts: ProtoFacts, leftOut: LeftOut): ProtoFacts {
  const services = Object.fromEntries(
    Object.entries(facts.services).map(([service, rpcs]) => [
      service,
      rpcs.filter(([name]) => !(`${service}.${name}` in leftOut.rpcs)),
    ]),
  );
  const messages: Record<string, readonly FieldFact[]> = {};
  const enums: Record<string, Readonly<Record<string, number>>> = {};
  const queue = Object.values(services).flatMap(rpcs => rpcs.flatMap(([, request, response]) => [request, response]));
  for (let type = queue.pop(); type !== undefined; type = queue.pop()) {
    const name = baseType(type);
    const values = facts.enums[name];
    const fields = facts.messages[name];
    if (values !== undefined) enums[name] = values;
    if (fields === undefined || name in messages) continue;
    messages[name] = fields.filter(([, field]) => !(`${name}.${field}` in leftOut.fields));
    messages[name] = messages[name].map(field => qualified(field, name, facts));
    queue.push(...messages[name].map(([, , fieldType]) => fieldType));
  }
  return {package: facts.package, services, messages, enums};
}

/** The facts name a type that is nested in the same message by its last part alone. */
function qualified(field: FieldFact, message: string, facts: ProtoFacts): FieldFact {
  const [number, name, type, ...flags] = field;
  const base = baseType(type);
  const nested = `${message}.${base}`;
  const isNested = nested in facts.enums || nested in facts.messages;
  return isNested ? [number, name, type.replace(base, nested), ...flags] : field;
}

function baseType(type: string): string {
  return type
    .replace(/^(stream|repeated) /, '')
    .replace(/^map<\w+,\s*(.+)>$/, '$1')
    .trim();
}

/** Entries of the list that name nothing, or something that is there after all. */
function untrueEntries(proto: ProtoFacts, facts: ProtoFacts, leftOut: LeftOut): readonly string[] {
  const rpcsOf = (source: ProtoFacts): ReadonlySet<string> =>
    new Set(Object.entries(source.services).flatMap(([service, rpcs]) => rpcs.map(([name]) => `${service}.${name}`)));
  const fieldsOf = (source: ProtoFacts): ReadonlySet<string> =>
    new Set(Object.entries(source.messages).flatMap(([name, fields]) => fields.map(field => `${name}.${field[1]}`)));
  return [
    ...untrue('rpc', Object.keys(leftOut.rpcs), rpcsOf(proto), rpcsOf(facts)),
    ...untrue('field', Object.keys(leftOut.fields), fieldsOf(proto), fieldsOf(facts)),
  ];
}

function untrue(
  kind: string,
  listed: readonly string[],
  present: ReadonlySet<string>,
  known: ReadonlySet<string>,
): readonly string[] {
  return listed.flatMap(name => {
    if (!known.has(name)) return [`${kind} ${name}: listed as left out, but the facts do not know it`];
    return present.has(name) ? [`${kind} ${name}: listed as left out, but it is there`] : [];
  });
}

function compareServices(proto: ProtoFacts, wanted: ProtoFacts): readonly string[] {
  const byName = (rpcs: readonly (readonly [string, string, string])[]): Readonly<Record<string, string>> =>
    Object.fromEntries(rpcs.map(([name, request, response]) => [name, `(${request}) returns (${response})`]));
  return compareNamed('service', proto.services, wanted.services, (service, have, want) =>
    compareTexts(`rpc ${service}`, byName(have), byName(want)),
  );
}

function compareFields(message: string, have: readonly FieldFact[], want: readonly FieldFact[]): readonly string[] {
  const byName = (fields: readonly FieldFact[]): Readonly<Record<string, string>> =>
    Object.fromEntries(
      fields.map(([number, name, type, ...flags]) => [
        name,
        [`${type.replace(/,\s*/, ', ')} = ${number}`, ...flags.toSorted()].join(' '),
      ]),
    );
  return compareTexts(`field ${message}`, byName(have), byName(want));
}

function compareValues(
  name: string,
  have: Readonly<Record<string, number>>,
  want: Readonly<Record<string, number>>,
): readonly string[] {
  const texts = (values: Readonly<Record<string, number>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(values).map(([value, number]) => [value, String(number)]));
  return compareTexts(`value ${name}`, texts(have), texts(want));
}

function compareNamed<T>(
  kind: string,
  have: Readonly<Record<string, T>>,
  want: Readonly<Record<string, T>>,
  compare: (name: string, have: T, want: T) => readonly string[],
): readonly string[] {
  const names = new Set([...Object.keys(have), ...Object.keys(want)]);
  return [...names].flatMap(name => {
    const [own, fact] = [have[name], want[name]];
    if (own === undefined) return [`${kind} ${name}: missing`];
    if (fact === undefined) return [`${kind} ${name}: not in the facts, or reached by nothing`];
    return compare(name, own, fact);
  });
}

function compareTexts(
  prefix: string,
  have: Readonly<Record<string, string>>,
  want: Readonly<Record<string, string>>,
): readonly string[] {
  return compareNamed(prefix, have, want, (name, own, fact) =>
    own === fact ? [] : [`${prefix}.${name}: ${own}, should be ${fact}`],
  ).map(line => line.replace(`${prefix} `, `${prefix}.`));
}
