// Is there a runtime, and does it speak CRI v1?
import type {HostFacts, RuntimeAnswer} from '../facts.js';
import {fine, type Finding} from './finding.js';

export type Answer = Extract<RuntimeAnswer, {readonly answers: true}>;

export function rootFinding({isRoot}: HostFacts): Finding {
  if (isRoot) return fine('root', 'running as root');
  return {
    check: 'root',
    level: 'error',
    message: 'not running as root: volumes cannot be mounted, and not everything here could be looked at',
    remedy: 'run as root, e.g. with sudo',
  };
}

export function connectionFinding({runtime, endpoint, configuredBy}: HostFacts): Finding {
  if (!runtime.answers) return {check: 'runtime', level: 'error', message: runtime.message, remedy: runtime.hint};
  return fine('runtime', `${runtime.runtime} at ${endpoint} (from ${configuredBy})`);
}

export function apiVersionFinding({apiVersion, runtime}: Answer): Finding {
  if (apiVersion === 'v1') return fine('api-version', 'CRI v1');
  return {
    check: 'api-version',
    level: 'error',
    message: `${runtime} serves CRI ${apiVersion}, not v1`,
    remedy: 'use containerd 1.6 or later, CRI-O 1.23 or later, or the embedded runtime (minikubelet runtime start)',
  };
}

export function runtimeReadyFinding({conditions}: Answer): Finding {
  const ready = conditions.find(condition => condition.type === 'RuntimeReady');
  if (ready?.status === true) return fine('runtime-ready', 'the runtime says that it is ready');
  return {
    check: 'runtime-ready',
    level: 'error',
    message: `the runtime says that it is not ready: ${ready?.message ?? 'no reason given'}`,
    remedy: 'look into its log, e.g. journalctl -u containerd',
  };
}
