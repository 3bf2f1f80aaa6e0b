// Log records as lines: text for people, JSON for machines. Keys are the kubelet's.
import type {LogRecord} from '../../lib/logger.js';
import {stripControl} from './table.js';

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

const LEVEL_LETTERS: Readonly<Record<LogRecord['level'], string>> = {error: 'E', warn: 'W', info: 'I', debug: 'D'};

/** `2026-01-01T00:00:00.000Z I message pod="default/web" container="main"`, in one line. */
export function logLine(record: LogRecord, now: number): string {
  const fields = Object.entries(record.fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? JSON.stringify(value) : String(value)}`);
  const message = stripControl(record.message).replaceAll('\n', ' ');
  return `${new Date(now).toISOString()} ${LEVEL_LETTERS[record.level]} ${message}${fields.join('')}`;
}

/** The record as one JSON object: ts (ms), level, msg, then the fields. */
export function jsonLogLine(record: LogRecord, now: number): string {
  return JSON.stringify({ts: now, level: record.level, msg: record.message, ...record.fields}, bigintAsText);
}

/** JSON.stringify's replacer for 64-bit numbers. */
export function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
