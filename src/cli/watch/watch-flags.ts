// Flags of `watch`: the kubelet's own names where it has one, etcd's where kube-apiserver has one.
import {Flags} from '@oclif/core';
import {durationFlag} from '../flags.js';
import {LOG_FORMATS} from '../output/log-lines.js';

const SOURCES = 'SOURCE';

const checkFrequency = (summary: string) =>
  durationFlag({default: 20_000, defaultHelp: () => Promise.resolve('20s'), helpGroup: SOURCES, summary});

const pathFlag = (summary: string) => Flags.string({helpGroup: SOURCES, helpValue: 'FILE', summary});

export const sourceFlags = {
  'pod-manifest-path': Flags.string({
    helpGroup: SOURCES,
    helpValue: 'PATH',
    summary: "The same as a path by position; the kubelet's name for it.",
  }),
  'manifest-url': Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpGroup: SOURCES,
    helpValue: 'URL',
    summary: 'A URL that answers with a Pod, a PodList or a List.',
  }),
  'manifest-url-header': Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpGroup: SOURCES,
    helpValue: 'NAME:VALUE',
    summary: 'A header to send to manifest URLs.',
  }),
  'file-check-frequency': checkFrequency('How often files are read again, whatever the kernel tells.'),
  'http-check-frequency': checkFrequency('How often manifest URLs are asked.'),
  'etcd-endpoints': Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    helpGroup: SOURCES,
    helpValue: 'HOST:PORT[,HOST:PORT]',
    summary: 'Members of an etcd cluster that holds manifests.',
  }),
  'etcd-prefix': Flags.string({
    default: '/minikubelet/pods/',
    helpGroup: SOURCES,
    helpValue: 'PREFIX',
    summary: 'Keys below it hold one manifest each.',
  }),
  'etcd-user': Flags.string({helpGroup: SOURCES, helpValue: 'NAME', summary: 'Who logs in to etcd.'}),
  'etcd-password-file': pathFlag('A file with the password of --etcd-user.'),
  'etcd-cafile': pathFlag('Certificate authority of the etcd cluster, PEM.'),
  'etcd-certfile': pathFlag('Client certificate for etcd, PEM.'),
  'etcd-keyfile': pathFlag('Key of the client certificate, PEM.'),
};

export const watchFlags = {
  listen: Flags.string({
    helpValue: 'HOST:PORT',
    dependsOn: ['token-file'],
    summary: 'Serve the API on a TCP port too, beside its socket in the root directory.',
  }),
  'token-file': Flags.string({
    helpValue: 'FILE',
    dependsOn: ['listen'],
    summary: 'A file with the token that clients of the TCP port must bring.',
  }),
  'stop-pods-on-exit': Flags.boolean({summary: 'End all pods when told to stop, instead of leaving them running.'}),
  'log-format': Flags.option({
    options: LOG_FORMATS,
    summary: 'How log records look, where there is no live view.',
  })({default: 'text'}),
};
