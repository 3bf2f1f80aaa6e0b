// Which iptables rules and chains the embedded runtime's network left, from the text of iptables-save. Pure.
// Names and comments: CNI's bridge plugin (ipMasq: chain CNI-<hash>), portmap (CNI-DN-<hash> below CNI-HOSTPORT-*) and firewall
// (CNI-FORWARD); each of their rules carries the network's name in a comment.

/** "nat", "filter". */
export function tablesOf(save: string): readonly string[] {
  return save.split('\n').flatMap(line => (line.startsWith('*') ? [line.slice(1)] : []));
}

/** "nat PREROUTING", "nat CNI-HOSTPORT-DNAT". */
export function chainsOf(save: string): readonly string[] {
  return parse(save).flatMap(table => table.chains.map(chain => `${table.name} ${chain}`));
}

/**
 * Input for `iptables-restore --noflush` that removes the rules and chains of one CNI network, and the plugins' own shared
 * chains when nobody uses them any more and they are not in `chainsBefore`. '' = nothing to remove.
 */
export function cleanupRules(save: string, network: string, chainsBefore: readonly string[]): string {
  return parse(save)
    .map(table => {
      const commands = tableCleanup(table, network, chainsBefore);
      return commands.length === 0 ? '' : `*${table.name}\n${commands.join('\n')}\nCOMMIT\n`;
    })
    .join('');
}

/**
 * Input for `iptables-restore --noflush` that lets pods through a host which forwards nothing by default (Docker sets that).
 * '' = the host forwards anyway, or the rules are there.
 */
export function forwardingRules(save: string, network: string, bridge: string): string {
  const filter = parse(save).find(table => table.name === 'filter');
  if (!/^:FORWARD DROP\b/m.test(save) || filter === undefined) return '';
  if (filter.rules.some(rule => chainOf(rule) === 'FORWARD' && isNamed(rule, network))) return '';
  const accept = (direction: string): string =>
    `-I FORWARD ${direction} ${bridge} -m comment --comment "name: \\"${network}\\"" -j ACCEPT`;
  return `*filter\n${accept('-i')}\n${accept('-o')}\nCOMMIT\n`;
}

/** Tables that were not there before and hold neither a rule nor a chain nor a policy of anybody now. */
export function emptyNewTables(save: string, tablesBefore: readonly string[]): readonly string[] {
  return parse(save)
    .filter(table => !tablesBefore.includes(table.name) && table.rules.length === 0)
    .filter(table => table.chains.every(chain => BUILT_IN.includes(chain)) && table.policies.every(isAccept))
    .map(table => table.name);
}

function isAccept(policy: string): boolean {
  return policy === 'ACCEPT';
}

interface Table {
  readonly name: string;
  readonly chains: readonly string[];
  /** One a chain; "-" = the chain is no built-in one. */
  readonly policies: readonly string[];
  /** Without the leading -A. */
  readonly rules: readonly string[];
}

const BUILT_IN = ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'];
/** Chains a plugin makes for all networks together, with what shows that some network uses them. */
const SHARED_CHAINS: readonly {readonly chains: readonly string[]; readonly usedBy: RegExp}[] = [
  {chains: ['CNI-HOSTPORT-DNAT', 'CNI-HOSTPORT-SETMARK', 'CNI-HOSTPORT-MASQ'], usedBy: /^CNI-HOSTPORT-DNAT |^CNI-DN-/},
  {chains: ['CNI-FORWARD', 'CNI-ADMIN'], usedBy: /^CNI-ADMIN |^CNI-FORWARD (?!.*-j CNI-ADMIN)/},
];

function parse(save: string): readonly Table[] {
  const tables: {name: string; chains: string[]; policies: string[]; rules: string[]}[] = [];
  for (const line of save.split('\n')) {
    const table = tables.at(-1);
    if (line.startsWith('*')) {
      tables.push({name: line.slice(1), chains: [], policies: [], rules: []});
    } else if (line.startsWith(':')) {
      const [chain = '', policy = ''] = line.slice(1).split(' ');
      table?.chains.push(chain);
      table?.policies.push(policy);
    } else if (line.startsWith('-A ')) {
      table?.rules.push(line.slice('-A '.length));
    }
  }
  return tables;
}

function tableCleanup(table: Table, network: string, chainsBefore: readonly string[]): readonly string[] {
  const named = table.rules.filter(rule => isNamed(rule, network));
  const ownChains = new Set(named.flatMap(rule => [chainOf(rule), targetOf(rule)]).filter(isPodChain));
  const gone = (rule: string): boolean =>
    named.includes(rule) || ownChains.has(chainOf(rule)) || ownChains.has(targetOf(rule));
  const left = table.rules.filter(rule => !gone(rule));
  const shared = SHARED_CHAINS.filter(group => !left.some(rule => group.usedBy.test(rule)))
    .flatMap(group => group.chains)
    .filter(chain => table.chains.includes(chain) && !chainsBefore.includes(`${table.name} ${chain}`));
  const chains = [...ownChains, ...shared];
  const jumps = table.rules.filter(
    rule => !chains.includes(chainOf(rule)) && (named.includes(rule) || chains.includes(targetOf(rule))),
  );
  return [
    ...jumps.map(rule => `-D ${rule}`),
    ...chains.map(chain => `-F ${chain}`),
    ...chains.map(chain => `-X ${chain}`),
  ];
}

/** Quotes are escaped inside a comment. */
function isNamed(rule: string, network: string): boolean {
  return rule.includes(`name: \\"${network}\\"`) || rule.includes(`name: "${network}"`);
}

function chainOf(rule: string): string {
  return rule.split(' ')[0] ?? '';
}

function targetOf(rule: string): string {
  return / -[jg] (\S+)/.exec(rule)?.[1] ?? '';
}

/** A chain that a plugin made for one container. */
function isPodChain(chain: string): boolean {
  return /^CNI-(DN-|SN-)?[0-9a-f]{16,}$/.test(chain);
}
