import {Args} from '@oclif/core';
import {BaseCommand} from '../../cli/base-command.js';
import {imageEndpointShort} from '../../cli/flags.js';
import {toJson, toYaml} from '../../cli/output/output.js';
import {rootDirOf} from '../../cli/paths.js';
import {embeddedDeps} from '../../cli/runtime/connect.js';

export default class RuntimeLoad extends BaseCommand {
  static override usage = '<%= command.id %> IMAGE.tar [FLAGS]';
  static override summary = 'Load images of an archive into the embedded runtime.';
  static override description =
    'The archive is one of `docker save`, `ctr images export` or an OCI layout in a tar file.';
  static override examples = ['<%= config.bin %> runtime load busybox.tar'];
  static override args = {
    image: Args.string({required: true, ignoreStdin: true, description: 'The archive, a .tar file.'}),
  };
  static override flags = {...imageEndpointShort};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(RuntimeLoad);
    const session = await this.session(flags);
    const {loadImage} = await import('../../host/embedded-runtime/load.js');
    const names = await loadImage(await embeddedDeps(session), rootDirOf(flags), args.image, session.signal);
    if (flags.output === 'json') session.out(toJson({images: names}));
    else if (flags.output === 'yaml') session.out(await toYaml({images: names}));
    else session.out(...names.map(name => (flags.output === 'name' ? `image/${name}` : `loaded ${name}`)));
  }
}
