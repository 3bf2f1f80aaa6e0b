// ConfigMaps, Secrets and RuntimeClasses of all sources, by name. Of two of one name the source that delivered first counts.
import type {ConfigMap, Pod, RuntimeClass, Secret} from '../core/pod/types.js';
import {deepEqual} from '../core/deep-equal.js';
import type {Companions, SourceSnapshot} from '../core/source-mux.js';

export class ObjectStore {
  readonly #configMaps = new Map<string, ConfigMap>();
  readonly #secrets = new Map<string, Secret>();
  readonly #runtimeClasses = new Map<string, RuntimeClass>();
  #companions: readonly Companions[] = [];
  #version = 0;

  /** Changes whenever the objects have. */
  get version(): number {
    return this.#version;
  }

  /** Takes in the newest snapshots of all sources, in order of their first delivery. Answers whether anything changed. */
  replace(snapshots: readonly SourceSnapshot[]): boolean {
    const companions = snapshots.map(snapshot => snapshot.companions);
    if (deepEqual(companions, this.#companions)) return false;
    this.#companions = companions;
    for (const map of [this.#configMaps, this.#secrets, this.#runtimeClasses]) map.clear();
    for (const {configMaps, secrets, runtimeClasses} of companions) {
      for (const object of configMaps) addFirst(this.#configMaps, namespacedKey(object.metadata), object);
      for (const object of secrets) addFirst(this.#secrets, namespacedKey(object.metadata), object);
      for (const object of runtimeClasses) addFirst(this.#runtimeClasses, object.metadata?.name ?? '', object);
    }
    this.#version++;
    return true;
  }

  readonly configMap = (namespace: string, name: string): ConfigMap | undefined =>
    this.#configMaps.get(`${namespace}/${name}`);

  readonly secret = (namespace: string, name: string): Secret | undefined => this.#secrets.get(`${namespace}/${name}`);

  runtimeClass(name: string): RuntimeClass | undefined {
    return this.#runtimeClasses.get(name);
  }

  /** The pod's image pull secrets, and names of those that there are not. */
  pullSecrets({spec, metadata}: Pod): {readonly secrets: readonly Secret[]; readonly missing: readonly string[]} {
    const names = (spec.imagePullSecrets ?? []).map(({name}) => name ?? '');
    return {
      secrets: names.flatMap(name => this.secret(metadata.namespace, name) ?? []),
      missing: names.filter(name => this.secret(metadata.namespace, name) === undefined),
    };
  }
}

function namespacedKey(metadata: {readonly namespace?: string; readonly name?: string} | undefined): string {
  const namespace = metadata?.namespace ?? '';
  return `${namespace === '' ? 'default' : namespace}/${metadata?.name ?? ''}`;
}

function addFirst<T>(map: Map<string, T>, key: string, value: T): void {
  if (!map.has(key)) map.set(key, value);
}
