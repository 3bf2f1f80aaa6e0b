// Columns as kubectl prints them: padded with blanks, three between columns, at least six wide, nothing after the last.
// Mirrors k8s.io/cli-runtime/pkg/printers/tabwriter.go (minwidth 6, padding 3).

const MIN_WIDTH = 6;
const PADDING = 3;

/** Column widths that a stream of tables (`get -w`) keeps from one to the next. */
export type ColumnWidths = number[];

/** One line a row, without line ends. Rows may differ in length; an empty cell prints as blanks. */
export function renderTable(rows: readonly (readonly string[])[], widths: ColumnWidths = []): readonly string[] {
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? MIN_WIDTH, displayWidth(cell) + PADDING);
    }
  }
  return rows.map(row =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : pad(cell, widths[column] ?? MIN_WIDTH)))
      .join('')
      .trimEnd(),
  );
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(width - displayWidth(cell), 0));
}

/** Characters that take room on a terminal: escape sequences do not. */
export function displayWidth(text: string): number {
  return Array.from(stripControl(text)).length;
}

/** The text without escape sequences and control characters, so that no image name or log line can steer a terminal. */
export function stripControl(text: string): string {
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b[@-_]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
