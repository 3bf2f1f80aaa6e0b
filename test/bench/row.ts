// What a bench row is given and what it answers.
import type {Bench} from './bench.js';

export interface Figure {
  readonly value: number;
  /** "x" = ratio over the floor of the same run; ms, %, MB, KB. */
  readonly unit: string;
  /** null = reported, not held to anything. */
  readonly budget: number | null;
  /** What the value was made of, for people. */
  readonly detail: string;
}

export interface Row {
  readonly name: string;
  /** Figures by name, e.g. {"apply-1": ...}. */
  readonly measure: (bench: Bench) => Promise<Readonly<Record<string, Figure>>>;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** Nearest rank; NaN for no values, so that a missing measurement never meets a budget. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/**
 * How many times as long `own` takes: the median over pairs of runs, one of each, made next to each other. The pace of a machine
 * changes within one run of the bench by more than what is to be measured, and a median of each alone may stand for other
 * minutes than that of the other.
 */
export function pairedRatio(own: readonly number[], floor: readonly number[]): number {
  return median(own.map((ms, index) => ms / (floor[index] ?? Number.NaN)));
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
