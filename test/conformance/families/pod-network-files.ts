// Hosts files, host names and resolver configurations of pods.
import {PodError} from '../../../src/core/errors.js';
import {podDns} from '../../../src/core/network/dns.js';
import {kernelHostname, podHostname, type PodHostname} from '../../../src/core/network/hostname.js';
import {hostsFile} from '../../../src/core/network/hosts-file.js';
import type {HostAlias, Pod} from '../../../src/core/pod/types.js';
import type {Family} from '../family.js';

type Input =
  | {
      kind: 'hosts';
      hostNetwork: boolean;
      podIPs: string[] | null;
      hostname: string;
      domain: string;
      hostAliases: HostAlias[] | null;
      nodeHostsFile: string;
    }
  | {kind: 'hostname'; pod: Pod; clusterDomain: string}
  | {kind: 'dns'; pod: Pod; resolvConf: string; clusterDNS: string[] | null; clusterDomain: string; nodeIP: string};

export const family: Family<Input, unknown> = {
  run(input) {
    switch (input.kind) {
      case 'hosts':
        return {
          content: hostsFile({
            ...input,
            podIPs: input.podIPs ?? [],
            hostAliases: input.hostAliases ?? [],
            nodeHostsFile: input.hostNetwork ? input.nodeHostsFile : null,
          }),
        };
      case 'hostname':
        return outcome(() => {
          const hostname = podHostname(input.pod, input.clusterDomain);
          return {...hostname, ...kernel(hostname, input.pod)};
        });
      case 'dns':
        return outcome(
          () => {
            const {config, events} = podDns({
              ...input,
              clusterDNS: input.clusterDNS ?? [],
              nodeIPs: [input.nodeIP],
            });
            return {
              ...config,
              options: config.options.sort(),
              events: events.map(({reason, message}) => `Warning ${reason} ${message}`),
            };
          },
          {events: []},
        );
    }
  },
  normalize(value) {
    const {error, kernelHostnameError, ...rest} = value as Record<string, unknown>;
    return {...rest, failed: error !== undefined, kernelFailed: kernelHostnameError !== undefined};
  },
};

function kernel(hostname: PodHostname, pod: Pod): object {
  try {
    return {kernelHostname: kernelHostname(hostname, pod.spec.setHostnameAsFQDN)};
  } catch (error) {
    if (error instanceof PodError) return {kernelHostnameError: error.message};
    throw error;
  }
}

function outcome(run: () => object, besides: object = {}): object {
  try {
    return run();
  } catch (error) {
    if (error instanceof PodError) return {error: error.message, ...besides};
    throw error;
  }
}
