// Results on standard output: kubectl's formats over the API's objects.
import {bigintAsText} from './log-lines.js';
import {renderTable, type ColumnWidths} from './table.js';

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** How one kind of object looks as a table. */
export interface TableView<Item> {
  readonly header: readonly string[];
  readonly wideHeader: readonly string[];
  readonly row: (item: Item, wide: boolean) => readonly string[];
}

export interface ListOptions {
  readonly format: OutputFormat;
  readonly headers: boolean;
  readonly widths?: ColumnWidths;
}

/** A table, without line ends. */
export function tableLines<Item>(
  items: readonly Item[],
  view: TableView<Item>,
  options: ListOptions,
): readonly string[] {
  const wide = options.format === 'wide';
  const header = wide ? [...view.header, ...view.wideHeader] : view.header;
  const rows = items.map(item => view.row(item, wide));
  return renderTable(options.headers ? [header, ...rows] : rows, options.widths);
}

/** One JSON document, indented as kubectl does, or for followers on one line. */
export function toJson(value: unknown, oneLine = false): string {
  return JSON.stringify(value, bigintAsText, oneLine ? undefined : 4);
}

/** One YAML document, without a leading marker. The writer is loaded only here. */
export async function toYaml(value: unknown): Promise<string> {
  const {dump} = await import('js-yaml');
  const plain: unknown = JSON.parse(toJson(value));
  return dump(plain, {lineWidth: -1, noRefs: true}).trimEnd();
}

/** A list as `-o json|yaml` prints it: the object itself when it was asked for by name, else a List. */
export function asList(items: readonly object[], single: boolean): object {
  const [only] = items;
  return single && only !== undefined && items.length === 1 ? only : {apiVersion: 'v1', items, kind: 'List'};
}
