// Can pods have a network? CNI needs a configuration and the plugins that it names.
import type {HostFacts} from '../facts.js';
import type {Answer} from './check-runtime.js';
import {fine, type Finding} from './finding.js';

const EMBEDDED = 'or use the embedded runtime (minikubelet runtime start)';

export function cniConfigFinding({cni}: HostFacts, {config}: Answer): readonly Finding[] {
  if (config === null || cni === null) return [];
  const [first] = cni.configFiles;
  if (first !== undefined) return [fine('cni-config', `network configuration ${first}`)];
  return [
    {
      check: 'cni-config',
      level: 'error',
      message: `no CNI network configuration in ${config.cniConfDir}: only pods with hostNetwork can start`,
      remedy: `put a .conflist there (a bridge with host-local addresses is enough), ${EMBEDDED}`,
    },
  ];
}

export function cniPluginsFinding({cni}: HostFacts, {config}: Answer): readonly Finding[] {
  if (config === null || cni === null || cni.configFiles.length === 0) return [];
  const dirs = config.cniBinDirs.join(' or ');
  if (cni.missingPlugins.length === 0) return [fine('cni-plugins', `${cni.plugins.join(', ')} in ${dirs}`)];
  return [
    {
      check: 'cni-plugins',
      level: 'error',
      message: `CNI plugins ${cni.missingPlugins.join(', ')} are not in ${dirs}`,
      remedy:
        'apt-get install containernetworking-plugins (they come to /usr/lib/cni: set bin_dir of the CRI plugin to that, ' +
        `or link them), ${EMBEDDED}`,
    },
  ];
}

/** What the runtime itself says; the two checks above usually say why. */
export function networkFinding({conditions}: Answer): Finding {
  const ready = conditions.find(condition => condition.type === 'NetworkReady');
  if (ready?.status === true) return fine('network-ready', 'the runtime says that its network is ready');
  return {
    check: 'network-ready',
    level: 'error',
    message: `the runtime says that its network is not ready: ${ready?.message ?? 'no reason given'}`,
    remedy: `mend the CNI configuration, ${EMBEDDED}`,
  };
}
