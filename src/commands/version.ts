import {Flags} from '@oclif/core';
import {BaseCommand} from '../cli/base-command.js';
import {imageEndpointShort} from '../cli/flags.js';
import {printFact} from '../cli/output/print-fact.js';
import {connectTo} from '../cli/runtime/connect.js';

export default class Version extends BaseCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  static override summary = 'Show the versions of minikubelet and of the runtime.';
  static override examples = ['<%= config.bin %> version', '<%= config.bin %> version --client -o json'];
  static override flags = {
    ...imageEndpointShort,
    client: Flags.boolean({summary: 'Only minikubelet itself; asks no runtime.'}),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Version);
    const session = await this.session(flags);
    const client = {version: this.config.version, kubernetes: '1.36', node: process.versions.node};
    const clientText = `minikubelet ${client.version} (as the Kubernetes ${client.kubernetes} kubelet, Node ${client.node})`;
    if (flags.client) {
      await printFact(session, flags.output, {name: 'version/client', text: clientText, document: {client}});
      return;
    }
    const connection = await connectTo(flags, session, 'use');
    try {
      const {runtimeName, runtimeVersion, runtimeApiVersion} = connection.version;
      const runtime = {
        name: runtimeName,
        version: runtimeVersion,
        api: runtimeApiVersion,
        endpoint: connection.endpoint,
      };
      const text = `${clientText}\n${runtime.name} ${runtime.version} (CRI ${runtime.api}, ${runtime.endpoint})`;
      await printFact(session, flags.output, {name: 'version/client', text, document: {client, runtime}});
    } finally {
      connection.close();
    }
  }
}
