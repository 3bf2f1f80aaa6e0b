import {Flags} from '@oclif/core';
import {BaseCommand} from '../cli/base-command.js';

export default class Version extends BaseCommand {
  static override summary = 'Show the versions of minikubelet and of the runtime.';
  static override flags = {client: Flags.boolean({summary: 'Only minikubelet itself; asks no runtime.'})};

  async run(): Promise<void> {
    await this.parse(Version);
  }
}
