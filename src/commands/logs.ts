import {Args, Flags} from '@oclif/core';
import {BaseCommand} from '../cli/base-command.js';
import {durationFlag, imageEndpointShort} from '../cli/flags.js';
import {nodeNameOf} from '../cli/paths.js';

export default class Logs extends BaseCommand {
  static override usage = '<%= command.id %> POD [CONTAINER] [FLAGS]';
  static override summary = 'Print the logs of the containers of a pod.';
  static override examples = [
    '<%= config.bin %> logs web',
    '<%= config.bin %> logs web -c httpd -f --tail 20',
    '<%= config.bin %> logs web --previous',
    '<%= config.bin %> logs -l app=web --all-containers --prefix',
  ];
  static override args = {
    pod: Args.string({ignoreStdin: true, description: 'Name of the pod, with or without the name of the node.'}),
    container: Args.string({ignoreStdin: true, description: 'Name of the container, as with -c.'}),
  };
  static override flags = {
    ...imageEndpointShort,
    container: Flags.string({
      char: 'c',
      helpValue: 'NAME',
      summary: 'The container; the first one if nothing is said.',
    }),
    'all-containers': Flags.boolean({summary: 'All containers of the pod.', exclusive: ['container']}),
    selector: Flags.string({
      char: 'l',
      helpValue: 'LABELS',
      summary: 'All pods with these labels instead of one by name.',
    }),
    follow: Flags.boolean({char: 'f', summary: 'Go on until the containers have ended.'}),
    previous: Flags.boolean({char: 'p', summary: 'The instance before the current one.'}),
    since: durationFlag({summary: 'Only what is newer than this, e.g. 5m.'}),
    'since-time': Flags.string({
      helpValue: 'TIME',
      summary: 'Only what is newer than this, RFC 3339.',
      exclusive: ['since'],
    }),
    tail: Flags.integer({helpValue: 'N', min: -1, summary: 'Only the last lines; -1 for all.'}),
    'limit-bytes': Flags.integer({helpValue: 'N', min: 1, summary: 'At most so many bytes of each log.'}),
    timestamps: Flags.boolean({char: 't', summary: 'The time before each line.'}),
    prefix: Flags.boolean({summary: 'Pod and container before each line.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Logs);
    const session = await this.session(flags);
    const {logRequest, printLogs} = await import('../cli/logs/logs.js');
    const request = logRequest(args, {...flags, nodeName: nodeNameOf(flags)});
    const {openReader} = await import('../cli/pods/reader.js');
    const reader = openReader(flags, session);
    try {
      await printLogs(session, reader, request);
    } finally {
      await reader.close();
    }
  }
}
