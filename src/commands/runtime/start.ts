import {BaseCommand} from '../../cli/base-command.js';
import {imageEndpointShort} from '../../cli/flags.js';
import {printFact} from '../../cli/output/print-fact.js';
import {rootDirOf} from '../../cli/paths.js';
import {embeddedDeps} from '../../cli/runtime/connect.js';

export default class RuntimeStart extends BaseCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  static override summary = 'Start the embedded runtime, or find that it runs.';
  static override description =
    'A private containerd below the root directory, with its own state, socket, network and images. It needs the programs ' +
    'containerd, runc and the CNI plugins of this host, and leaves a containerd that runs here alone.';
  static override examples = ['<%= config.bin %> runtime start', '<%= config.bin %> runtime start --root-dir /tmp/try'];
  static override flags = {...imageEndpointShort};

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeStart);
    const session = await this.session(flags);
    const {startRuntime} = await import('../../host/embedded-runtime/start.js');
    const started = await startRuntime(await embeddedDeps(session), rootDirOf(flags), session.signal);
    const word = started.alreadyRunning ? 'already running' : 'started';
    await printFact(session, flags.output, {
      name: 'runtime/embedded',
      text: `embedded runtime ${word} (pid ${started.pid}, ${started.endpoint})`,
      document: started,
    });
  }
}
