// Whether the agent is well, in the words of Kubernetes' health endpoints.
// Mirrors https://kubernetes.io/docs/reference/using-api/health-checks/ and kubelet v1.36 pkg/kubelet/kubelet.go
// LatestLoopEntryTime (syncloop).
import type {AgentHandle} from '../agent/agent.js';
import type {ManifestProblem} from '../core/errors.js';
import {problemText} from './answers.js';

export interface HealthReport {
  readonly healthy: boolean;
  /** What is wrong with the agent, one line each. */
  readonly problems: readonly string[];
  /** One line a check, e.g. `[-]pleg failed: ...`; then what is wrong with the sources, which makes nothing unhealthy. */
  readonly lines: readonly string[];
}

/** Housekeeping turns the loop every 2 s. */
const LOOP_STUCK_MS = 10_000;

const COMPONENTS = ['pleg', 'runtime', 'network'] as const;

export function healthReport(agent: Pick<AgentHandle, 'health' | 'view'>): HealthReport {
  const view = agent.view();
  const problems: ReadonlyMap<string, string> = new Map([
    ...loopProblem(view),
    ...agent.health().map(({component, message}) => [component, oneLine(worded(component, message))] as const),
  ]);
  const checks = ['syncloop', ...COMPONENTS].map(name => {
    const problem = problems.get(name);
    return problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`;
  });
  const sources = (view?.sourceProblems ?? []).map(
    problem => `[i]source ${severityOf(problem)}${oneLine(problemText(problem))}`,
  );
  return {healthy: problems.size === 0, problems: [...problems.values()], lines: [...checks, ...sources]};
}

/** Whether the loop still turns. */
export function isLoopAlive(agent: Pick<AgentHandle, 'view'>): boolean {
  return loopProblem(agent.view()).length === 0;
}

function loopProblem(view: ReturnType<AgentHandle['view']>): readonly (readonly ['syncloop', string])[] {
  if (view === null) return [['syncloop', 'the agent is starting']];
  if (view.idleMs <= LOOP_STUCK_MS) return [];
  return [['syncloop', `sync Loop took longer than expected: ${Math.round(view.idleMs / 1000)}s without a turn`]];
}

function worded(component: string, message: string): string {
  return component === 'pleg' ? `PLEG is not healthy: ${message}` : message;
}

function severityOf({severity}: ManifestProblem): string {
  return severity === 'warning' ? 'warning: ' : '';
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}
