// Counters and histograms, and Prometheus' text format. Small on purpose: a client library would be a twelfth of the memory of
// an idle agent (docs/decisions.md).
// Format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** What is added to the family's name, e.g. _bucket; '' = nothing. */
  readonly suffix?: string;
  readonly labels?: Labels;
  readonly value: number;
}

/** A metric and all its samples at one moment. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The text of all families. */
export function exposition(families: readonly Family[]): string {
  const lines = families.flatMap(({name, help, type, samples}) => [
    `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({suffix = '', labels = {}, value}) => `${name}${suffix}${labelText(labels)} ${numberText(value)}`),
  ]);
  return `${lines.join('\n')}\n`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

interface Described {
  readonly name: string;
  readonly help: string;
}

/** Only ever grows, for each set of labels. */
export class Counter {
  readonly #described: Described;
  readonly #series = new Map<string, {readonly labels: Labels; value: number}>();

  constructor(described: Described) {
    this.#described = described;
  }

  inc(labels: Labels): void {
    const key = keyOf(labels);
    const series = this.#series.get(key) ?? {labels, value: 0};
    series.value++;
    this.#series.set(key, series);
  }

  /** Forgets the series that have this value of a label. */
  forget(label: string, value: string): void {
    for (const [key, {labels}] of this.#series) if (labels[label] === value) this.#series.delete(key);
  }

  family(): Family {
    return {...this.#described, type: 'counter', samples: [...this.#series.values()]};
  }
}

/** How values are spread over buckets, for each set of labels. */
export class Histogram {
  readonly #described: Described;
  /** Upper bounds, ascending. */
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, {readonly labels: Labels; readonly counts: number[]; sum: number}>();

  /** One that never has labels is there before anything is observed, as zeros. */
  constructor(described: Described, bounds: readonly number[], isLabelled: boolean) {
    this.#described = described;
    this.#bounds = bounds;
    if (!isLabelled) this.#seriesOf({});
  }

  observe(labels: Labels, value: number): void {
    const series = this.#seriesOf(labels);
    const bucket = this.#bounds.findIndex(bound => value <= bound);
    const index = bucket === -1 ? this.#bounds.length : bucket;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += value;
  }

  family(): Family {
    const samples = [...this.#series.values()].flatMap(({labels, counts, sum}): readonly Sample[] => {
      let count = 0;
      const buckets = [...this.#bounds, Infinity].map((bound, index): Sample => {
        count += counts[index] ?? 0;
        return {suffix: '_bucket', labels: {...labels, le: numberText(bound)}, value: count};
      });
      return [...buckets, {suffix: '_sum', labels, value: sum}, {suffix: '_count', labels, value: count}];
    });
    return {...this.#described, type: 'histogram', samples};
  }

  #seriesOf(labels: Labels): {readonly counts: number[]; sum: number} {
    const key = keyOf(labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const fresh = {labels, counts: this.#bounds.map(() => 0), sum: 0};
    this.#series.set(key, fresh);
    return fresh;
  }
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.values(labels));
}
