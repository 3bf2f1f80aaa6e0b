// The sources that `watch` is told of: directories, files and URLs by position or by the kubelet's flags, and etcd.
import {readFileSync} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import type {PodSource} from '../../agent/agent.js';
import {parseListenAddress, type TcpListener} from '../../api/listen.js';
import {UsageError} from '../../core/errors.js';
import type {Report} from '../../core/events.js';
import type {SourceSnapshot} from '../../core/source-mux.js';
import type {Clock} from '../../lib/clock.js';
import {readManifestTexts} from '../../manifest/read-texts.js';
import type {ValidateMode} from '../../manifest/types.js';
import type {EtcdCredentials} from '../../sources/etcd/etcd-client.js';
import {fileSource} from '../../sources/file.js';
import {httpSource} from '../../sources/http.js';
import type {Interpret} from '../../sources/snapshot.js';

export interface EtcdRequest {
  readonly endpoints: readonly string[];
  readonly prefix: string;
  readonly credentials: EtcdCredentials;
}

export interface SourcesRequest {
  /** Files, directories and URLs, as given. */
  readonly paths: readonly string[];
  readonly urlHeaders: Readonly<Record<string, string>>;
  readonly fileCheckMs: number;
  readonly httpCheckMs: number;
  readonly etcd: EtcdRequest | null;
  readonly nodeName: string;
  readonly validate: ValidateMode;
}

export interface SourceContext {
  readonly rootDir: string;
  readonly clock: Clock;
  readonly report: Report;
}

/** How texts of this run become pods. What a pod refers to may come from another source: it waits for that. */
export function interpretAs({nodeName, validate}: Pick<SourcesRequest, 'nodeName' | 'validate'>): Interpret {
  return files => readManifestTexts(files, {nodeName, validate, requireReferences: false});
}

/** All sources; with none named, the directory <root-dir>/manifests, which is made. */
export async function sourcesOf(request: SourcesRequest, context: SourceContext): Promise<readonly PodSource[]> {
  const named = request.paths.length > 0 || request.etcd !== null;
  const fallback = join(context.rootDir, 'manifests');
  if (!named) await mkdir(fallback, {recursive: true, mode: 0o750});
  const interpret = interpretAs(request);
  const paths = named ? request.paths : [fallback];
  if (paths.includes('-')) throw new UsageError('standard input cannot be watched', {hint: 'use minikubelet apply -'});
  const sources = paths.map(path => pathSource(path, {request, context, interpret}));
  const all = request.etcd === null ? sources : [...sources, etcdSourceOf(request.etcd, context, interpret)];
  return withDistinctNames(all);
}

interface PathContext {
  readonly request: SourcesRequest;
  readonly context: SourceContext;
  readonly interpret: Interpret;
}

function pathSource(path: string, {request, context, interpret}: PathContext): PodSource {
  const {clock, report} = context;
  if (/^https?:\/\//.test(path)) {
    const {urlHeaders: headers, httpCheckMs: checkFrequencyMs} = request;
    const options = {url: path, headers, checkFrequencyMs, clock, report, interpret};
    return {name: 'http', snapshots: signal => httpSource({...options, signal})};
  }
  const options = {target: resolve(path), checkFrequencyMs: request.fileCheckMs, clock, report, interpret};
  return {name: 'file', snapshots: signal => fileSource({...options, signal})};
}

function etcdSourceOf(request: EtcdRequest, context: SourceContext, interpret: Interpret): PodSource {
  const {clock, report} = context;
  return {
    name: 'etcd',
    async *snapshots(signal) {
      const {etcdSource} = await import('../../sources/etcd/etcd.js');
      yield* etcdSource({...request, clock, report, interpret, signal});
    },
  };
}

/** Two directories are two sources: each keeps the pods that it delivered first. */
function withDistinctNames(sources: readonly PodSource[]): readonly PodSource[] {
  const seen = new Map<string, number>();
  return sources.map(source => {
    const count = (seen.get(source.name) ?? 0) + 1;
    seen.set(source.name, count);
    return count === 1 ? source : renamed(source, `${source.name}-${count}`);
  });
}

function renamed(source: PodSource, name: string): PodSource {
  async function* snapshots(signal: AbortSignal): AsyncGenerator<SourceSnapshot> {
    for await (const snapshot of source.snapshots(signal)) yield {...snapshot, source: name};
  }
  return {name, snapshots};
}

export interface EtcdFlags {
  readonly 'etcd-endpoints'?: readonly string[] | undefined;
  readonly 'etcd-prefix': string;
  readonly 'etcd-user'?: string | undefined;
  readonly 'etcd-password-file'?: string | undefined;
  readonly 'etcd-cafile'?: string | undefined;
  readonly 'etcd-certfile'?: string | undefined;
  readonly 'etcd-keyfile'?: string | undefined;
}

/** null = no etcd is named. Throws UsageError for files that cannot be read. */
export function etcdRequest(flags: EtcdFlags): EtcdRequest | null {
  const endpoints = flags['etcd-endpoints'] ?? [];
  if (endpoints.length === 0) return null;
  const ca = fileOf('--etcd-cafile', flags['etcd-cafile']);
  const cert = fileOf('--etcd-certfile', flags['etcd-certfile']);
  const key = fileOf('--etcd-keyfile', flags['etcd-keyfile']);
  const password = fileOf('--etcd-password-file', flags['etcd-password-file']);
  const name = flags['etcd-user'];
  if (name !== undefined && password === undefined) throw new UsageError('--etcd-user needs --etcd-password-file');
  const tls = {...(ca && {ca}), ...(cert && {cert}), ...(key && {key})};
  return {
    endpoints,
    prefix: flags['etcd-prefix'],
    credentials: {
      ...(name !== undefined && password !== undefined && {user: {name, password: password.toString().trim()}}),
      ...(Object.keys(tls).length > 0 && {tls}),
    },
  };
}

function fileOf(flag: string, path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`${flag}: ${path} cannot be read`, {cause: error});
  }
}

/** `Name:value`, as the kubelet takes --manifest-url-header. Throws UsageError for anything else. */
export function headersOf(flag: string, values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    values.map(value => {
      const colon = value.indexOf(':');
      if (colon < 1) throw new UsageError(`${flag}: ${JSON.stringify(value)} is not NAME:VALUE`);
      return [value.slice(0, colon).trim(), value.slice(colon + 1).trim()];
    }),
  );
}

/** Where the API listens on TCP; null = nowhere. Throws UsageError for an address that is none. */
export function tcpListener(flags: {
  readonly listen?: string | undefined;
  readonly 'token-file'?: string | undefined;
}): TcpListener | null {
  const {listen, 'token-file': tokenFile} = flags;
  if (listen === undefined || tokenFile === undefined) return null;
  return {...parseListenAddress(listen), tokenFile: resolve(tokenFile)};
}
