import {Args, Flags} from '@oclif/core';
import {BaseCommand} from '../cli/base-command.js';
import {imageEndpointShort} from '../cli/flags.js';
import type {GetRequest, Shown} from '../cli/get/get.js';
import {nodeNameOf} from '../cli/paths.js';

export default class Get extends BaseCommand {
  static override aliases = ['ps'];
  static override usage = '<%= command.id %> [pods|containers|images] [NAME...] [FLAGS]';
  static override summary = 'List pods, containers or images.';
  static override examples = [
    '<%= config.bin %> get pods',
    '<%= config.bin %> get pods -A -w',
    '<%= config.bin %> get pod web -o yaml',
    '<%= config.bin %> get containers -o wide',
    '<%= config.bin %> get pods -l app=web -o name',
  ];
  static override args = {
    what: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'pods (if nothing is said), containers or images, and names; pod/NAME is understood.',
    }),
  };
  static override flags = {
    ...imageEndpointShort,
    watch: Flags.boolean({char: 'w', summary: 'Go on, and print what changes.'}),
    selector: Flags.string({
      char: 'l',
      helpValue: 'LABELS',
      summary: 'Only pods with these labels, e.g. app=web,tier!=db.',
    }),
    'all-namespaces': Flags.boolean({char: 'A', summary: 'Pods of all namespaces.'}),
    'no-headers': Flags.boolean({summary: 'No header line.'}),
    quiet: Flags.boolean({char: 'q', summary: 'Ids only.'}),
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Get);
    const session = await this.session(flags);
    const get = await import('../cli/get/get.js');
    const {openReader} = await import('../cli/pods/reader.js');
    const {resource, names} = get.parseGetWords(argv.map(String));
    const request: GetRequest = {
      names,
      namespace: flags.namespace,
      allNamespaces: flags['all-namespaces'],
      selector: flags.selector,
      nodeName: nodeNameOf(flags),
      format: flags.output,
      headers: !flags['no-headers'],
      quiet: flags.quiet,
    };
    const reader = openReader(flags, session);
    const show = async <Item>(shown: Shown<Item>, load: () => Promise<readonly Item[]>): Promise<void> => {
      if (!flags.watch) {
        await get.printList(session, shown, await load(), request);
        return;
      }
      const {followList} = await import('../cli/get/follow.js');
      // Nobody tells when an image comes or goes.
      const changes = resource === 'images' ? null : (signal: AbortSignal) => reader.changes(signal);
      await followList(session, {load, changes}, get.changePrinter(session, shown, request));
    };
    try {
      const listImages = async () => {
        const {images} = await reader.connection();
        return get.selectImages(await images.listImages(session.signal), request);
      };
      const listPods = async () => get.selectPods(await reader.pods(), request);
      const listContainers = async () => get.selectContainers(await reader.pods(), request);
      if (resource === 'images') await show(get.shownImages, listImages);
      else if (resource === 'containers') await show(get.shownContainers(request), listContainers);
      else await show(get.shownPods(request), listPods);
    } finally {
      await reader.close();
    }
  }
}
