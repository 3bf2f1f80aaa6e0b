// One fact as a result: a sentence for people, a document for programs.
import type {Session} from '../session.js';
import {toJson, toYaml, type OutputFormat} from './output.js';

export interface Fact {
  /** For -o name, e.g. runtime/embedded. */
  readonly name: string;
  readonly text: string;
  readonly document: object;
}

export async function printFact(session: Session, format: OutputFormat, fact: Fact): Promise<void> {
  switch (format) {
    case 'json':
      session.out(toJson(fact.document));
      return;
    case 'yaml':
      session.out(await toYaml(fact.document));
      return;
    case 'name':
      session.out(fact.name);
      return;
    case 'table':
    case 'wide':
      session.out(fact.text);
  }
}
