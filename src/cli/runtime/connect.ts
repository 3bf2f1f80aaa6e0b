// The runtime of a command: the one that flags, variables and files name, else one that is there, else the embedded one.
import type {RuntimeConnection} from '../../cri/connect.js';
import type {EmbeddedRuntimeDeps} from '../../host/embedded-runtime/deps.js';
import type {GlobalFlags} from '../base-command.js';
import {rootDirOf} from '../paths.js';
import type {Session} from '../session.js';

/** What to do about the embedded runtime when nothing was named and nothing else answers. */
export type EmbeddedUse =
  /** Start it if need be, and say so. */
  | 'start'
  /** Use it if it runs. */
  | 'use';

/** Connects, or rejects with RuntimeUnavailableError or UsageError. The caller closes the connection. */
export async function connectTo(
  flags: GlobalFlags,
  session: Session,
  embedded: EmbeddedUse,
): Promise<RuntimeConnection> {
  const {connectRuntime} = await import('../../cri/connect.js');
  const {'runtime-endpoint': runtimeEndpoint, 'image-endpoint': imageEndpoint, config} = flags;
  const connection = await connectRuntime(
    {
      ...(runtimeEndpoint === undefined ? {} : {runtimeEndpoint}),
      ...(imageEndpoint === undefined ? {} : {imageEndpoint}),
      ...(config === undefined ? {} : {config}),
      env: process.env,
      cwd: process.cwd(),
      embedded: signal => embeddedSocket(rootDirOf(flags), session, embedded, signal),
    },
    session.signal,
  );
  const {embeddedEndpoint} = await import('../../host/embedded-runtime/paths.js');
  // It may have been named as well.
  const isEmbedded = connection.embedded || connection.endpoint === embeddedEndpoint(rootDirOf(flags));
  const known = {...connection, embedded: isEmbedded};
  const {logger, clock} = session;
  if (!logger.debugEnabled) return known;
  const {logCalls} = await import('./logged-calls.js');
  const {runtime, images} = connection;
  return {...known, runtime: logCalls(runtime, logger, clock), images: logCalls(images, logger, clock)};
}

async function embeddedSocket(
  rootDir: string,
  session: Session,
  use: EmbeddedUse,
  signal: AbortSignal,
): Promise<string | null> {
  const {runtimePaths} = await import('../../host/embedded-runtime/paths.js');
  if (use === 'start') {
    const {startRuntime} = await import('../../host/embedded-runtime/start.js');
    const {alreadyRunning} = await startRuntime(await embeddedDeps(session), rootDir, signal);
    if (!alreadyRunning) session.err(`started the embedded runtime of ${rootDir}, since no other answers`);
    return runtimePaths(rootDir).socket;
  }
  const {runtimeState} = await import('../../host/embedded-runtime/status.js');
  return (await runtimeState(rootDir)).answers ? runtimePaths(rootDir).socket : null;
}

/** What the embedded runtime needs of us. */
export async function embeddedDeps(session: Session): Promise<EmbeddedRuntimeDeps> {
  const {openCri} = await import('../../cri/grpc-runtime-service.js');
  const {clock, logger} = session;
  return {clock, logger, connect: endpoint => openCri(endpoint, clock)};
}
