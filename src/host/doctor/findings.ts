// What is wrong with a host, each finding a pure function of its facts, and what to do about it.
import type {HostFacts} from '../facts.js';
import type {Finding} from './finding.js';
import {cgroupFinding, driverFinding} from './check-cgroups.js';
import {cniConfigFinding, cniPluginsFinding, networkFinding} from './check-network.js';
import {apiVersionFinding, connectionFinding, rootFinding, runtimeReadyFinding} from './check-runtime.js';
import {diskFindings, kubeletFinding, mountFinding, oomScoreFinding, pauseImageFinding} from './check-host.js';

/** Every check in the order in which they should be mended. Checks that make no sense without a runtime are left out then. */
export function findings(facts: HostFacts): readonly Finding[] {
  const always = [rootFinding(facts), connectionFinding(facts)];
  const withRuntime = facts.runtime.answers
    ? [
        apiVersionFinding(facts.runtime),
        runtimeReadyFinding(facts.runtime),
        cniConfigFinding(facts, facts.runtime),
        cniPluginsFinding(facts, facts.runtime),
        networkFinding(facts.runtime),
        oomScoreFinding(facts, facts.runtime),
        mountFinding(facts),
        driverFinding(facts, facts.runtime),
        pauseImageFinding(facts, facts.runtime),
        kubeletFinding(facts),
      ]
    : [];
  return [...always, ...withRuntime.flat(), cgroupFinding(facts), ...diskFindings(facts)];
}
