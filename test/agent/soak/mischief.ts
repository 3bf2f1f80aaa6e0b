// What may go wrong on a machine, by chance: runtime calls that fail, hang, or lose their answer, lost events, a runtime that is
// away, processes that die, records that vanish, probes that fail, and people who edit and remove manifests.
import type {CriCode} from '../../../src/core/errors.js';
import type {Pod} from '../../../src/core/pod/types.js';
import type {FakeContainer, FakeSandbox} from '../../fakes/fake-runtime.js';
import type {Random} from '../../support/random.js';
import type {GivenSource, World} from '../world.js';
import {CALM, castPod, NAMES} from './cast.js';
import {isCalm, isRunning} from './invariants.js';

const CODES: readonly CriCode[] = ['UNAVAILABLE', 'UNKNOWN', 'DEADLINE_EXCEEDED', 'INTERNAL'];
const RPCS = [
  'RunPodSandbox',
  'StopPodSandbox',
  'RemovePodSandbox',
  'PodSandboxStatus',
  'ListPodSandbox',
  'CreateContainer',
  'StartContainer',
  'StopContainer',
  'RemoveContainer',
  'ListContainers',
  'ContainerStatus',
  'ImageStatus',
  'ExecSync',
  'Status',
] as const;

export class Mischief {
  readonly #world: World;
  readonly #source: GivenSource;
  readonly #random: Random;
  readonly #wanted = new Map<string, Pod>();
  #version = 0;
  #isDeaf = false;
  #probesFail = false;
  #undo: (() => void)[] = [];

  constructor(world: World, source: GivenSource, random: Random) {
    this.#world = world;
    this.#source = source;
    this.#random = random;
    const {runtime} = world;
    const events = runtime.events.bind(runtime);
    const isDeaf = (): boolean => this.#isDeaf;
    runtime.events = async function* (signal) {
      for await (const event of events(signal)) if (!isDeaf()) yield event;
    };
    const none = new Uint8Array();
    runtime.onExec = () => ({exitCode: this.#probesFail ? 1 : 0, stdout: none, stderr: none});
  }

  /** Names of the pods that are defined now. */
  get wanted(): readonly string[] {
    return [...this.#wanted.keys()];
  }

  /** All pods of the cast, or none. */
  want(names: readonly string[]): void {
    for (const name of NAMES) {
      if (!names.includes(name)) this.#wanted.delete(name);
      else if (!this.#wanted.has(name)) this.#wanted.set(name, castPod(name, ++this.#version));
    }
    this.#deliver();
  }

  /** One thing happens. */
  strike(): void {
    const deeds = [this.#edit, this.#edit, this.#toggle, this.#toggle, this.#fail, this.#fail, this.#fail];
    const rarer = [this.#exit, this.#exit, this.#killSandbox, this.#lose, this.#hang, this.#leave];
    const states = [this.#goDeaf, this.#failProbes, this.#loseNetwork, () => this.heal()];
    this.#random.pick([...deeds, ...rarer, ...states])?.call(this);
  }

  /** Nothing is wrong any more; what has happened has happened. */
  heal(): void {
    this.#isDeaf = false;
    this.#probesFail = false;
    for (const undo of this.#undo.splice(0)) undo();
  }

  #deliver(): void {
    this.#source.deliver(...this.#wanted.values());
  }

  /** Another version of a pod in place of the one there is. */
  #edit(): void {
    const name = this.#someName();
    this.#wanted.set(name, castPod(name, ++this.#version));
    this.#deliver();
  }

  /** A pod is taken away, or put back as it was or as a new version. */
  #toggle(): void {
    const name = this.#someName();
    const isNew = this.#random.next() < 0.5;
    if (!this.#wanted.delete(name)) this.#wanted.set(name, castPod(name, isNew ? ++this.#version : this.#version));
    this.#deliver();
  }

  #someName(): string {
    return this.#random.pick(NAMES.filter(name => !CALM.some(calm => calm === name))) ?? '';
  }

  #fail(): void {
    const {runtime} = this.#world;
    const refusal = {code: this.#random.pick(CODES) ?? 'UNKNOWN', message: 'by chance'};
    const options = {times: this.#random.whole(1, 4), afterEffect: this.#random.next() < 0.4};
    this.#undo.push(runtime.failNext(this.#random.pick(RPCS) ?? '', refusal, options));
  }

  #hang(): void {
    const {release} = this.#world.runtime.hangNext(this.#random.pick(RPCS) ?? '');
    this.#undo.push(release);
  }

  /** The runtime is away until all is healed. */
  #leave(): void {
    const {runtime} = this.#world;
    runtime.disconnect();
    this.#undo.push(() => runtime.reconnect());
  }

  #exit(): void {
    const container = this.#random.pick(this.#victims().filter(isRunning));
    const [exitCode, oomKilled] = [this.#random.pick([0, 1, 137]) ?? 0, this.#random.next() < 0.2];
    if (container !== undefined) this.#world.runtime.exitContainer(container.id, exitCode, {oomKilled});
  }

  #killSandbox(): void {
    const sandbox = this.#random.pick(this.#sandboxes());
    if (sandbox !== undefined) this.#world.runtime.exitSandbox(sandbox.id);
  }

  /** The record of an ended container vanishes from the runtime. */
  #lose(): void {
    const isApp = ({config}: FakeContainer): boolean => !['setup', 'migrate'].includes(config.metadata?.name ?? '');
    const container = this.#random.pick(
      this.#victims().filter(one => !isRunning(one) && one.shown === null && isApp(one)),
    );
    if (container !== undefined) this.#world.runtime.forget(container.id);
  }

  #goDeaf(): void {
    this.#isDeaf = true;
  }

  #failProbes(): void {
    this.#probesFail = true;
  }

  #loseNetwork(): void {
    const {conditions} = this.#world.runtime;
    conditions.set('NetworkReady', {status: false, reason: 'NetworkPluginNotReady', message: 'by chance'});
    this.#undo.push(() => conditions.set('NetworkReady', {status: true, reason: '', message: ''}));
  }

  #sandboxes(): readonly FakeSandbox[] {
    return [...this.#world.runtime.sandboxes.values()].filter(sandbox => !isCalm(sandbox));
  }

  #victims(): readonly FakeContainer[] {
    const ids = new Set(this.#sandboxes().map(({id}) => id));
    return [...this.#world.runtime.containers.values()].filter(({sandboxId}) => ids.has(sandboxId));
  }
}
