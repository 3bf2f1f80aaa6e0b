// Flags that several commands share, so that a word means the same everywhere.
import {Args, Errors, Flags} from '@oclif/core';
import {parseDuration} from './durations.js';
import {OUTPUT_FORMATS} from './output/output.js';
import {PROGRESS_MODES} from './output/terminal.js';

const GLOBAL = 'GLOBAL';

/** A Go duration (`90s`, `1m30s`) or bare seconds, as milliseconds. */
export const durationFlag = Flags.custom<number>({
  helpValue: 'DURATION',
  parse: input => {
    const ms = parseDuration(input);
    if (ms === null)
      return Promise.reject(new Errors.CLIError(`${JSON.stringify(input)} is not a duration, e.g. 90s or 1m30s`));
    return Promise.resolve(ms);
  },
});

/** `KEY=VALUE[,KEY=VALUE...]` as a record, as the kubelet takes --system-reserved and --node-labels. */
export const mapFlag = Flags.custom<Readonly<Record<string, string>>>({
  helpValue: 'KEY=VALUE,...',
  parse: input => {
    const pairs = input.split(',').filter(part => part.trim() !== '');
    const bad = pairs.find(pair => pair.indexOf('=') < 1);
    if (bad !== undefined) return Promise.reject(new Errors.CLIError(`${JSON.stringify(bad)} is not KEY=VALUE`));
    const entries = pairs.map(pair => [
      pair.slice(0, pair.indexOf('=')).trim(),
      pair.slice(pair.indexOf('=') + 1).trim(),
    ]);
    return Promise.resolve(Object.fromEntries(entries) as Record<string, string>);
  },
});

/** Understood by every command; `-i` is left to commands that have a standard input to pass on. */
export const globalFlags = {
  'runtime-endpoint': Flags.string({
    char: 'r',
    helpGroup: GLOBAL,
    helpValue: 'SOCKET',
    summary: 'Where the container runtime listens, e.g. unix:///run/containerd/containerd.sock.',
  }),
  'image-endpoint': Flags.string({
    helpGroup: GLOBAL,
    helpValue: 'SOCKET',
    summary: "Where the image service listens; the runtime's endpoint if not given.",
  }),
  config: Flags.string({
    helpGroup: GLOBAL,
    helpValue: 'FILE',
    summary: 'A configuration file as crictl has it (default /etc/crictl.yaml).',
  }),
  'root-dir': Flags.string({
    helpGroup: GLOBAL,
    helpValue: 'DIR',
    summary: 'Where minikubelet keeps its state, lock and API socket (default /var/lib/minikubelet).',
    env: 'MINIKUBELET_ROOT_DIR',
  }),
  'node-name': Flags.string({
    aliases: ['hostname-override'],
    helpGroup: GLOBAL,
    helpValue: 'NAME',
    summary: 'Name of this node; pods of a directory carry it (default: the host name).',
  }),
  namespace: Flags.string({
    char: 'n',
    helpGroup: GLOBAL,
    helpValue: 'NS',
    summary: 'Namespace of pods (default "default").',
  }),
  output: Flags.option({
    char: 'o',
    options: OUTPUT_FORMATS,
    helpGroup: GLOBAL,
    summary: 'How the result is printed on standard output.',
  })({default: 'table'}),
  progress: Flags.option({
    options: PROGRESS_MODES,
    helpGroup: GLOBAL,
    summary: 'How the way there is shown on standard error.',
  })({default: 'auto'}),
  'log-level': Flags.option({
    options: ['error', 'warn', 'info', 'debug'] as const,
    helpGroup: GLOBAL,
    summary: 'Which log records are shown (default warn; info for watch).',
  })(),
  verbose: Flags.boolean({char: 'v', helpGroup: GLOBAL, summary: 'Show more: -v for info, -vv for debug.'}),
  'no-color': Flags.boolean({
    helpGroup: GLOBAL,
    summary: 'No colours. The variables NO_COLOR and FORCE_COLOR are heeded.',
  }),
};

/** `-i` as in crictl, for commands that pass no standard input on. */
export const imageEndpointShort = {
  'image-endpoint': Flags.string({
    char: 'i',
    helpGroup: GLOBAL,
    helpValue: 'SOCKET',
    summary: "Where the image service listens; the runtime's endpoint if not given.",
  }),
};

/** Manifest paths, given by position or by -f. */
export const pathArgs = {
  path: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: 'A manifest file, a directory of them, a URL, or - for standard input.',
  }),
};

export const pathFlags = {
  filename: Flags.string({
    char: 'f',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'PATH',
    summary: 'The same as a path by position; may be given more than once.',
  }),
};

/** Flags of the agent itself, for every command that runs one. */
const AGENT = 'AGENT';
export const agentFlags = {
  'pod-logs-dir': Flags.string({
    helpGroup: AGENT,
    helpValue: 'DIR',
    summary: 'Where container logs go (default /var/log/pods, below --root-dir if that is not the default).',
  }),
  'cgroups-per-qos': Flags.boolean({
    helpGroup: AGENT,
    allowNo: true,
    default: true,
    summary: 'Cgroups for pods and their classes of service, as the kubelet makes them.',
  }),
  'cgroup-root': Flags.string({
    helpGroup: AGENT,
    helpValue: 'PATH',
    summary: 'Parent of kubepods in the cgroup tree (default: /, or a cgroup of its own for another root directory).',
  }),
  'max-parallel-image-pulls': Flags.integer({
    helpGroup: AGENT,
    helpValue: 'N',
    min: 1,
    summary: 'Most pulls at once (default: no limit).',
  }),
  'allowed-unsafe-sysctls': Flags.string({
    helpGroup: AGENT,
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    helpValue: 'NAME[,NAME]',
    summary: 'Unsafe sysctls, or patterns ending in *, that pods may set.',
  }),
  'crash-loop-max': durationFlag({
    helpGroup: AGENT,
    summary: 'Longest wait between restarts of a container (default 5m).',
  }),
  'max-pods': Flags.integer({
    helpGroup: AGENT,
    helpValue: 'N',
    min: 0,
    summary: 'Most pods on this node (default 110).',
  }),
  'system-reserved': mapFlag({helpGroup: AGENT, summary: 'Resources kept from pods, e.g. cpu=500m,memory=1Gi.'}),
  capacity: mapFlag({helpGroup: AGENT, summary: "Resources to reckon with instead of the host's own."}),
  'node-labels': mapFlag({helpGroup: AGENT, summary: 'Labels of this node, for node selectors and affinity.'}),
  'cluster-domain': Flags.string({
    helpGroup: AGENT,
    helpValue: 'DOMAIN',
    summary: 'DNS domain of the cluster, for dnsPolicy ClusterFirst.',
  }),
  'cluster-dns': Flags.string({
    helpGroup: AGENT,
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    helpValue: 'IP[,IP]',
    summary: 'DNS servers of the cluster, for dnsPolicy ClusterFirst.',
  }),
  'resolv-conf': Flags.string({
    helpGroup: AGENT,
    helpValue: 'FILE',
    summary: "The node's resolver configuration (default /etc/resolv.conf).",
  }),
  'sync-frequency': durationFlag({
    helpGroup: AGENT,
    summary: 'How often a pod without news is looked at again (default 1m).',
  }),
  'seccomp-default': Flags.boolean({
    helpGroup: AGENT,
    summary: 'RuntimeDefault where a pod says nothing about seccomp.',
  }),
  'with-kubelet': Flags.boolean({helpGroup: AGENT, summary: 'Go on although a kubelet uses the same runtime.'}),
};

/** How strict a manifest is read. */
export const validationFlags = {
  validate: Flags.option({
    options: ['strict', 'warn', 'ignore'] as const,
    summary: 'Unknown fields and duplicate keys: an error, a warning, or nothing.',
  })({default: 'strict'}),
};
