import {Flags} from '@oclif/core';
import {BaseCommand} from '../cli/base-command.js';
import {agentFlags, durationFlag, imageEndpointShort, pathArgs, pathFlags, validationFlags} from '../cli/flags.js';
import {nodeNameOf} from '../cli/paths.js';

export default class Apply extends BaseCommand {
  static override usage = '<%= command.id %> PATH... [FLAGS]';
  static override summary = 'Bring the pods of manifests to their declared state, once.';
  static override description =
    'Ends with 0 only when every pod is up; says which container of which pod is not, why, and what it printed last. ' +
    'Pods are left running. A second run changes nothing.';
  static override examples = [
    '<%= config.bin %> apply ./pods',
    '<%= config.bin %> apply -f web.yaml -f db.yaml --timeout 2m',
    '<%= config.bin %> apply - --wait-for completed < job.yaml',
    '<%= config.bin %> apply ./pods -o json',
  ];
  static override args = pathArgs;
  static override flags = {
    ...imageEndpointShort,
    ...pathFlags,
    ...validationFlags,
    ...agentFlags,
    'wait-for': Flags.option({
      options: ['started', 'ready', 'completed', 'nothing'] as const,
      summary: 'When a pod counts as up.',
    })({default: 'ready'}),
    timeout: durationFlag({
      default: 300_000,
      defaultHelp: () => Promise.resolve('5m'),
      summary: 'How long pods may take; 0 for ever.',
    }),
    prune: Flags.boolean({
      allowNo: true,
      default: true,
      summary: 'Remove pods that came from a directory given here and are defined in it no more.',
    }),
    'keep-going': Flags.boolean({summary: 'Apply what is right although some manifests are broken; exit code 1 then.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Apply);
    const session = await this.session(flags);
    const {directoriesOf, loadManifests, pathsOf, refuseBroken} = await import('../cli/manifests/manifests.js');
    const {applyManifests} = await import('../cli/apply/apply.js');
    const paths = pathsOf(args, flags.filename);
    const {validate, namespace} = flags;
    const manifests = await loadManifests(session, {paths, nodeName: nodeNameOf(flags), validate, namespace});
    refuseBroken(session, manifests.problems, flags['keep-going']);
    const prune = flags.prune ? directoriesOf(paths) : [];
    if (manifests.pods.length === 0) session.err(emptyNote(prune));
    await applyManifests(session, {
      flags,
      version: this.config.version,
      manifests,
      waitFor: flags['wait-for'],
      timeoutMs: flags.timeout,
      prune,
      format: flags.output,
    });
  }
}

function emptyNote(pruned: readonly string[]): string {
  return pruned.length === 0
    ? 'no pods are defined: nothing to do'
    : `no pods are defined: those that came from ${pruned.join(', ')} are removed`;
}
