import {BaseCommand} from '../cli/base-command.js';
import {imageEndpointShort} from '../cli/flags.js';
import {toJson, toYaml} from '../cli/output/output.js';
import {rootDirOf} from '../cli/paths.js';
import {connectTo} from '../cli/runtime/connect.js';
import {exitCodeOfFindings, findingLine} from '../cli/runtime/doctor.js';
import {RuntimeUnavailableError} from '../core/errors.js';

export default class Doctor extends BaseCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  static override summary = 'Say what is wrong with this host, and what to do about it.';
  static override description =
    'Looks at the socket of the runtime, its CRI version, CNI, cgroups, mounts, capabilities, images, disks, and for a ' +
    'kubelet on the same runtime. Exit code 0 if pods can run, 1 if not.';
  static override examples = ['<%= config.bin %> doctor', '<%= config.bin %> doctor -o json'];
  static override flags = {...imageEndpointShort};

  async run(): Promise<void> {
    const {flags} = await this.parse(Doctor);
    const session = await this.session(flags);
    const {gatherFacts} = await import('../host/doctor/gather-facts.js');
    const {findings: judge} = await import('../host/doctor/findings.js');
    const connection = await connectTo(flags, session, 'use').catch((error: unknown) => {
      if (error instanceof RuntimeUnavailableError) return error;
      throw error;
    });
    try {
      const {clock, signal} = session;
      const found = judge(await gatherFacts({rootDir: rootDirOf(flags), clock, connection}, signal));
      if (flags.output === 'json') session.out(toJson({findings: found}));
      else if (flags.output === 'yaml') session.out(await toYaml({findings: found}));
      else session.out(...found.map(one => (flags.output === 'name' ? one.check : findingLine(one, session.outStyle))));
      process.exitCode = exitCodeOfFindings(found);
    } finally {
      if (!(connection instanceof RuntimeUnavailableError)) connection.close();
    }
  }
}
