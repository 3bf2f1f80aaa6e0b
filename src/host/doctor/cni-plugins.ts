// What the text of a CNI network configuration says. Pure.

/** Plugins that a CNI network configuration calls, IPAM included, in order. Text that makes no sense calls none. */
export function cniPlugins(text: string): readonly string[] {
  interface Plugin {
    readonly type?: string;
    readonly ipam?: {readonly type?: string};
    readonly plugins?: readonly Plugin[];
  }
  try {
    const network = JSON.parse(text) as Plugin;
    const types = (network.plugins ?? [network]).flatMap(plugin => [plugin.type ?? '', plugin.ipam?.type ?? '']);
    return [...new Set(types.filter(type => type !== ''))];
  } catch {
    return [];
  }
}
