import {BaseCommand} from '../cli/base-command.js';
import {agentFlags, imageEndpointShort, pathArgs, pathFlags, validationFlags} from '../cli/flags.js';
import {nodeNameOf} from '../cli/paths.js';
import {upkeepConfig, upkeepFlags} from '../cli/watch/upkeep-flags.js';
import {sourceFlags, watchFlags} from '../cli/watch/watch-flags.js';

export default class Watch extends BaseCommand {
  static override usage = '<%= command.id %> [PATH...] [FLAGS]';
  static override summary = 'Keep the pods of manifests running: the sync loop, in the foreground.';
  static override description =
    'Follows directories, files, URLs and an etcd prefix; with nothing named, <root-dir>/manifests. SIGTERM and SIGINT are ' +
    'its normal end: exit code 0, and pods are left running.';
  static override examples = [
    '<%= config.bin %> watch ./pods',
    '<%= config.bin %> watch --pod-manifest-path /etc/kubernetes/manifests --log-format json',
    '<%= config.bin %> watch --manifest-url http://host/pods.yaml --http-check-frequency 1m',
    '<%= config.bin %> watch --etcd-endpoints 10.0.0.1:2379,10.0.0.2:2379 --etcd-prefix /nodes/box/',
  ];
  static override args = pathArgs;
  static override flags = {
    ...imageEndpointShort,
    ...pathFlags,
    ...sourceFlags,
    ...validationFlags,
    ...watchFlags,
    ...upkeepFlags,
    ...agentFlags,
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Watch);
    const session = await this.session(flags, {logLevel: 'info', logFormat: flags['log-format']});
    const {watchPods} = await import('../cli/watch/watch.js');
    const {etcdRequest, headersOf, tcpListener} = await import('../cli/watch/watch-sources.js');
    const {'pod-manifest-path': manifestPath, 'manifest-url': urls = []} = flags;
    const paths = [
      ...(args.path ?? []),
      ...(flags.filename ?? []),
      ...(manifestPath === undefined ? [] : [manifestPath]),
    ];
    await watchPods(session, {
      flags,
      version: this.config.version,
      sources: {
        paths: [...paths, ...urls],
        urlHeaders: headersOf('--manifest-url-header', flags['manifest-url-header'] ?? []),
        fileCheckMs: flags['file-check-frequency'],
        httpCheckMs: flags['http-check-frequency'],
        etcd: etcdRequest(flags),
        nodeName: nodeNameOf(flags),
        validate: flags.validate,
      },
      listen: tcpListener(flags),
      upkeep: upkeepConfig(flags),
      stopPodsOnExit: flags['stop-pods-on-exit'],
      format: flags.output,
    });
  }
}
