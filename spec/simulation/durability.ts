import type { SilenceRecord } from '../../src/resources/silenced.ts';
import { CODECS } from '../../src/store/codecs.ts';
import type { TableName, Tables } from '../../src/store/records.ts';
import type { WriteSet } from '../../src/store/transactional-store.ts';
import type { SimulationClock } from './simulation-clock.ts';
import { compareEntity, compareEvent, comparePublications, compareSilence, compareTransitions } from './comparison.ts';
import type { Differences } from './differences.ts';
import type { HandlerRuns } from './handler-runs.ts';
import { Expectation } from './oracle/expectation.ts';
import type { Oracle } from './oracle/oracle.ts';
import type { SilenceTiming } from './silence-timing.ts';
import type { SimulatedDisk, WriteObserver, WritePlan } from './simulated-store.ts';

interface Flying {
  set: WriteSet;
  expectation: Expectation;
  /** The newest input in it. */
  input: number;
  /** Entities that it deletes. */
  deleted: ReadonlySet<string>;
  /** How much of the blind time it tells of. */
  blindTimes: number;
  steadyMs: number;
}

export interface DurabilityPorts {
  oracle: Oracle;
  disk: SimulatedDisk;
  clock: SimulationClock;
  handlerRuns: HandlerRuns;
  silenceTiming: SilenceTiming;
  differences: Differences;
  plan(): WritePlan;
  /** Whether the agent of an entity is connected. */
  hasSession(entity: string): boolean;
  /** The store cannot be written from now on, or can be again. */
  failed(): void;
  recovered(): void;
}

/** Looks at every write: it must hold exactly what the inputs since the last one have decided, and the oracle goes on from what became durable. */
export class Durability implements WriteObserver {
  durable = new Expectation();
  /** The last sign of life on the disk, in steady time. */
  aliveMs: number | undefined;
  isFailing = false;
  readonly #ports: DurabilityPorts;
  readonly #lost = new Set<number>();
  #inputs = 0;
  #durableInput = 0;
  #durableBlindTimes = 0;
  #flying: Flying | undefined;
  #failedAtMs = 0;
  /** When the last write was over, by the monotonic clock. */
  #endedAtMs = 0;

  constructor(ports: DurabilityPorts) {
    this.#ports = ports;
  }

  /** Numbers an input, so that it can be asked what became of it. */
  nextInput(): number {
    this.#inputs += 1;
    return this.#inputs;
  }

  isDurable(input: number): boolean {
    return input <= this.#durableInput && !this.#lost.has(input);
  }

  wasLost(input: number): boolean {
    return this.#lost.has(input);
  }

  plan(): WritePlan {
    return this.#ports.plan();
  }

  takesOff(set: WriteSet): void {
    const { oracle, clock } = this.#ports;
    clock.stir();
    this.#compareWrite(set);
    const atMs = Math.max(oracle.pending.sinceMs ?? -Infinity, this.#endedAtMs);
    if (oracle.pending.sinceMs !== undefined && clock.monotonicMs() !== atMs) {
      this.#ports.differences.add(`a write began ${clock.monotonicMs() - atMs} ms after what it holds was due`);
    }
    const { deleted } = oracle.pending;
    const expectation = oracle.tookOff();
    const blindTimes = this.isFailing ? this.#durableBlindTimes : oracle.blindTimes;
    this.#flying = { set, expectation, input: this.#inputs, deleted, blindTimes, steadyMs: oracle.steadyMs };
  }

  ended(durable: boolean): void {
    this.#ports.clock.stir();
    this.#endedAtMs = this.#ports.clock.monotonicMs();
    if (durable) this.#announced(this.#landed());
    else this.#failed();
  }

  /** Whatever was not durable is forgotten; `kept` when the write in flight was. */
  crashed(kept: boolean): void {
    this.isFailing = false;
    if (kept) this.#landed();
    this.#forget();
    this.#ports.oracle.keepBlindTimes(this.#durableBlindTimes);
  }

  #announced({ deleted }: Flying): void {
    for (const key of deleted) if (this.#ports.hasSession(key)) this.#ports.oracle.goneWithSession(key);
  }

  #landed(): Flying {
    const { oracle, handlerRuns } = this.#ports;
    const flying = this.#flying;
    if (flying === undefined) throw new Error('nothing was written');
    this.#flying = undefined;
    this.durable = flying.expectation;
    this.#durableInput = flying.input;
    this.#durableBlindTimes = flying.blindTimes;
    this.aliveMs = flying.steadyMs;
    handlerRuns.committed(flying.set, (name) => flying.expectation.handlers.has(name));
    if (this.isFailing) {
      this.isFailing = false;
      oracle.wasBlind(oracle.steadyMs, oracle.steadyMs - this.#failedAtMs);
      this.#ports.recovered();
    }
    return flying;
  }

  #failed(): void {
    this.#forget();
    if (this.isFailing) return;
    this.isFailing = true;
    this.#failedAtMs = this.#ports.oracle.steadyMs;
    this.#ports.failed();
  }

  #forget(): void {
    const { oracle } = this.#ports;
    for (let input = this.#durableInput + 1; input <= this.#inputs; input += 1) this.#lost.add(input);
    this.#durableInput = this.#inputs;
    this.#flying = undefined;
    oracle.backTo(this.durable);
  }

  #compareWrite({ puts, ledger }: WriteSet): void {
    const { oracle, differences, silenceTiming } = this.#ports;
    const predicted = silenceTiming.follow(ledger);
    const { head, pending } = oracle;
    const effective = <T extends TableName>(table: T, key: string): Tables[T] | undefined => {
      const put = puts[table].get(key);
      return put === undefined ? this.#stored(table, key) : (put ?? undefined);
    };
    for (const key of new Set([...pending.events, ...inNamespace(puts.events)])) {
      compareEvent(key, head.events.get(key), effective('events', key), differences);
    }
    for (const key of new Set([...pending.entities, ...inNamespace(puts.entities)])) {
      compareEntity(key, head.entities.get(key), effective('entities', key), differences);
    }
    for (const id of pending.queues) {
      const [agent = '', queue] = id.split(' ');
      const stored = effective('agentQueues', `default/${agent}`)?.find((known) => known.id === queue)?.n;
      differences.compare(`highest number of ${id}`, head.queues.get(id), stored);
    }
    for (const key of new Set([...pending.silences].map(silenceKey).concat(silencesIn(puts.resources)))) {
      const name = key.slice(SILENCES.length);
      compareSilence(
        name,
        head.silences.get(name),
        effective('resources', key) as SilenceRecord | undefined,
        differences,
      );
    }
    compareTransitions(pending.transitions, predicted, differences);
    comparePublications(pending.publications, puts.outbox, differences);
  }

  /** Compares everything on the disk. */
  compareDisk(): void {
    const { disk, differences } = this.#ports;
    const { events, entities, queues, silences } = this.durable;
    for (const key of new Set([...events.keys(), ...inNamespace(disk.rows('events'))])) {
      compareEvent(key, events.get(key), this.#stored('events', key), differences);
    }
    for (const key of new Set([...entities.keys(), ...inNamespace(disk.rows('entities'))])) {
      compareEntity(key, entities.get(key), this.#stored('entities', key), differences);
    }
    for (const key of new Set([...silences.keys()].map(silenceKey).concat(silencesIn(disk.rows('resources'))))) {
      const name = key.slice(SILENCES.length);
      compareSilence(
        name,
        silences.get(name),
        this.#stored('resources', key) as SilenceRecord | undefined,
        differences,
      );
    }
    for (const [id, n] of queues) {
      const [agent = '', queue] = id.split(' ');
      const stored = this.#stored('agentQueues', `default/${agent}`)?.find((known) => known.id === queue);
      // Only the latest queues of an agent are remembered.
      if (stored !== undefined) differences.compare(`highest number of ${id}`, n, stored.n);
    }
  }

  #stored<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const bytes = this.#ports.disk.rows(table).get(key);
    return bytes === undefined ? undefined : CODECS[table].decode(bytes, `${table} ${key}`);
  }
}

const SILENCES = 'silenced/default/';
const silenceKey = (name: string): string => `${SILENCES}${name}`;
const silencesIn = (rows: ReadonlyMap<string, unknown>): string[] =>
  [...rows.keys()].filter((key) => key.startsWith(SILENCES));

/** The backend's own entity is not of the simulation. */
const inNamespace = (rows: ReadonlyMap<string, unknown>): string[] =>
  [...rows.keys()].filter((key) => key.startsWith('default/'));
