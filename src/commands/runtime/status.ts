import {BaseCommand} from '../../cli/base-command.js';
import {EXIT} from '../../cli/exit-codes.js';
import {imageEndpointShort} from '../../cli/flags.js';
import {printFact} from '../../cli/output/print-fact.js';
import {stripControl} from '../../cli/output/table.js';
import {rootDirOf} from '../../cli/paths.js';

export default class RuntimeStatus extends BaseCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  static override summary = 'Say whether the embedded runtime runs; exit code 0 if it does, 4 if not.';
  static override examples = ['<%= config.bin %> runtime status', '<%= config.bin %> runtime status -o json'];
  static override flags = {...imageEndpointShort};

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeStatus);
    const session = await this.session(flags);
    const {runtimeState} = await import('../../host/embedded-runtime/status.js');
    const state = await runtimeState(rootDirOf(flags));
    const pid = state.state === 'stopped' ? '' : ` (pid ${state.pid})`;
    const trouble = state.state === 'running' && !state.answers ? ', but its socket does not answer' : '';
    await printFact(session, flags.output, {
      name: 'runtime/embedded',
      text: `embedded runtime ${state.state}${pid}${trouble}; endpoint ${state.endpoint}, log ${state.logFile}`,
      document: state,
    });
    if ('lastLog' in state) session.err(...state.lastLog.map(line => `  | ${stripControl(line)}`));
    if (!state.answers) process.exitCode = EXIT.runtime;
  }
}
