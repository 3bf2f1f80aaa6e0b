// `doctor`: one line a finding, ending with what to do about it.
import type {Finding} from '../../host/doctor/finding.js';
import {EXIT} from '../exit-codes.js';
import {stripControl} from '../output/table.js';
import type {Style} from '../output/terminal.js';

const LEVEL_WIDTH = 'warning'.length;

/** `error    cni-config: no network is configured; apt-get install ...` */
export function findingLine(finding: Finding, style: Style): string {
  const {check, level, message, remedy} = finding;
  const word = colorOf(level, style)(level.padEnd(LEVEL_WIDTH));
  return `${word}  ${style.bold(check)}: ${stripControl(message)}${remedy === '' ? '' : `; ${stripControl(remedy)}`}`;
}

function colorOf(level: Finding['level'], style: Style): (text: string) => string {
  switch (level) {
    case 'ok':
      return style.good;
    case 'warning':
      return style.warn;
    case 'error':
      return style.bad;
    case 'unknown':
      return style.dim;
  }
}

/** 1 when something is wrong that keeps pods from running; warnings are no failure. */
export function exitCodeOfFindings(findings: readonly Finding[]): number {
  return findings.some(({level}) => level === 'error') ? EXIT.failed : EXIT.ok;
}
