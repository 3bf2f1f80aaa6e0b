import {Args, Flags} from '@oclif/core';
import {BaseCommand} from '../cli/base-command.js';
import {agentFlags, durationFlag, imageEndpointShort, pathFlags} from '../cli/flags.js';
import {nodeNameOf} from '../cli/paths.js';

export default class Delete extends BaseCommand {
  static override aliases = ['down'];
  static override usage = '<%= command.id %> (POD|PATH)... [FLAGS]';
  static override summary = 'End pods gracefully and remove all that is left of them.';
  static override description =
    'Pods are named, or the manifests that define them; a directory means all pods that came from it. Containers end in ' +
    "the kubelet's order, within the grace period of their pod.";
  static override examples = [
    '<%= config.bin %> delete web db',
    '<%= config.bin %> delete ./pods',
    '<%= config.bin %> delete -l app=web --grace-period 5s',
    '<%= config.bin %> down --all --now',
  ];
  static override args = {
    what: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'Pods, manifest files, directories, URLs, or -.',
    }),
  };
  static override flags = {
    ...imageEndpointShort,
    ...pathFlags,
    ...agentFlags,
    selector: Flags.string({char: 'l', helpValue: 'LABELS', summary: 'All pods with these labels.'}),
    all: Flags.boolean({summary: 'All pods of this root directory.'}),
    'grace-period': durationFlag({summary: "How long containers get to end, instead of each pod's own grace period."}),
    now: Flags.boolean({summary: 'The same as --grace-period 1s.', exclusive: ['grace-period']}),
    timeout: durationFlag({
      default: 300_000,
      defaultHelp: () => Promise.resolve('5m'),
      summary: 'How long it may take; 0 for ever.',
    }),
    'ignore-not-found': Flags.boolean({summary: 'A pod that does not exist is no error.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Delete);
    const session = await this.session(flags);
    const {deletePods, deleteTargets} = await import('../cli/apply/delete.js');
    const {selector, all, namespace, filename: filenames = []} = flags;
    const ignoreNotFound = flags['ignore-not-found'];
    const words = args.what ?? [];
    const nodeName = nodeNameOf(flags);
    const given = {words, filenames, selector, all, namespace, nodeName, ignoreNotFound};
    const grace = flags.now ? 1000 : flags['grace-period'];
    await deletePods(session, {
      flags,
      version: this.config.version,
      targets: await deleteTargets(session, given),
      gracePeriodSeconds: grace === undefined ? null : Math.ceil(grace / 1000),
      timeoutMs: flags.timeout,
      format: flags.output,
    });
  }
}
