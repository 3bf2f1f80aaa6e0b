import {BaseCommand} from '../../cli/base-command.js';
import {durationFlag, imageEndpointShort} from '../../cli/flags.js';
import {printFact} from '../../cli/output/print-fact.js';
import {rootDirOf} from '../../cli/paths.js';
import {embeddedDeps} from '../../cli/runtime/connect.js';

export default class RuntimeStop extends BaseCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  static override summary = 'Stop the embedded runtime and all its pods; leaves nothing behind but images.';
  static override examples = ['<%= config.bin %> runtime stop', '<%= config.bin %> runtime stop --grace-period 5s'];
  static override flags = {
    ...imageEndpointShort,
    'grace-period': durationFlag({summary: "How long containers get to end, instead of each pod's own grace period."}),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeStop);
    const session = await this.session(flags);
    const {stopRuntime} = await import('../../host/embedded-runtime/stop.js');
    const grace = flags['grace-period'];
    const options = grace === undefined ? {} : {gracePeriodSeconds: Math.ceil(grace / 1000)};
    const ended = await stopRuntime(await embeddedDeps(session), rootDirOf(flags), options, session.signal);
    const pods = ended.pods === 0 ? '' : ` with ${ended.pods} ${ended.pods === 1 ? 'pod' : 'pods'}`;
    await printFact(session, flags.output, {
      name: 'runtime/embedded',
      text: ended.stopped ? `embedded runtime stopped${pods}` : 'embedded runtime was not running',
      document: ended,
    });
  }
}
