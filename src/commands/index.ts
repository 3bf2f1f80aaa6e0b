// All commands by id; oclif finds them here (strategy "explicit").
import {commands as helpCommands} from '@oclif/plugin-help';
import {main} from '../cli/main.js';
import Apply from './apply.js';
import Delete from './delete.js';
import Doctor from './doctor.js';
import Get from './get.js';
import Logs from './logs.js';
import RuntimeLoad from './runtime/load.js';
import RuntimeStart from './runtime/start.js';
import RuntimeStatus from './runtime/status.js';
import RuntimeStop from './runtime/stop.js';
import Validate from './validate.js';
import Version from './version.js';
import Watch from './watch.js';

export const COMMANDS = {
  apply: Apply,
  delete: Delete,
  doctor: Doctor,
  get: Get,
  help: helpCommands.help,
  logs: Logs,
  'runtime:load': RuntimeLoad,
  'runtime:start': RuntimeStart,
  'runtime:status': RuntimeStatus,
  'runtime:stop': RuntimeStop,
  validate: Validate,
  version: Version,
  watch: Watch,
};

/** Runs a command line; `root` is the folder that holds `target` (this module, or the bundle made of it). */
export function start(argv: readonly string[], root: string, target: string): Promise<void> {
  const ids = Object.entries(COMMANDS).flatMap(([id, command]) => [id, ...command.aliases]);
  return main(argv, {root, target, ids});
}
