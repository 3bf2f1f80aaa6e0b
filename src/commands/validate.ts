import {Flags} from '@oclif/core';
import {BaseCommand} from '../cli/base-command.js';
import {pathArgs, pathFlags, validationFlags} from '../cli/flags.js';
import {nodeNameOf} from '../cli/paths.js';

export default class Validate extends BaseCommand {
  static override usage = '<%= command.id %> PATH... [FLAGS]';
  static override summary = 'Check manifests: decode, default and validate, nothing more.';
  static override description =
    'Needs no runtime and no root. All errors of all files are shown, with file, line, column and field; exit code 3.';
  static override examples = [
    '<%= config.bin %> validate ./pods',
    '<%= config.bin %> validate - < pod.yaml',
    '<%= config.bin %> validate --as-kubelet /etc/kubernetes/manifests',
  ];
  static override args = pathArgs;
  static override flags = {
    ...pathFlags,
    ...validationFlags,
    'as-kubelet': Flags.boolean({
      summary:
        "What a kubelet's static pod path would make of it: first documents only, Pods only, the last file wins.",
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Validate);
    const session = await this.session(flags);
    const {pathsOf} = await import('../cli/manifests/manifests.js');
    const request = {
      paths: pathsOf(args, flags.filename),
      nodeName: nodeNameOf(flags),
      validate: flags.validate,
      namespace: flags.namespace,
    };
    if (flags['as-kubelet']) {
      const {validateAsKubelet} = await import('../cli/manifests/validate-as-kubelet.js');
      await validateAsKubelet(session, request, flags.output);
      return;
    }
    const {validateManifests} = await import('../cli/manifests/validate.js');
    await validateManifests(session, request, flags.output);
  }
}
