import type { SilenceRecord } from '../../src/resources/silenced.ts';
import { CODECS } from '../../src/store/records/codecs.ts';
import type { TableName, Tables } from '../../src/store/records/records.ts';
import type { WriteSet } from '../../src/store/commit/transactional-store.ts';
import type { SimulationClock } from './simulation-clock.ts';
import { compareEntity, compareEvent, comparePublications, compareSilence, compareTransitions } from './comparison.ts';
import type { Differences } from './differences.ts';
import type { HandlerRuns } from './handler-runs.ts';
import { Expectation } from './oracle/expectation.ts';
import type { Oracle } from './oracle/oracle.ts';
import type { SilenceTiming } from './silence-timing.ts';
import type { SimulatedDisk, WriteObserver, WritePlan } from './simulated-store.ts';

interface WriteInFlight {
  set: WriteSet;
  expectation: Expectation;
  /** Number of the newest input in it. */
  input: number;
  /** Entities that the write deletes. */
  deleted: ReadonlySet<string>;
  /** Number of blind times that are durable with it. */
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
  /** Called when the store becomes unwritable, and when it is writable again. */
  failed(): void;
  recovered(): void;
}

/**
 * Checks that every write holds exactly what the inputs since the last write have decided. After a failure or a crash, the oracle
 * continues from the durable state.
 */
export class Durability implements WriteObserver {
  durable = new Expectation();
  /** Newest proof on the disk that the backend was running, in steady time. */
  aliveMs: number | undefined;
  isFailing = false;
  readonly #ports: DurabilityPorts;
  readonly #lost = new Set<number>();
  #inputs = 0;
  #durableInput = 0;
  #durableBlindTimes = 0;
  #inFlight: WriteInFlight | undefined;
  #failedAtMs = 0;
  /** Monotonic time at which the last write ended. */
  #endedAtMs = 0;

  constructor(ports: DurabilityPorts) {
    this.#ports = ports;
  }

  /** Returns the number of a new input, for `isDurable` and `wasLost`. */
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

  started(set: WriteSet): void {
    const { oracle, clock } = this.#ports;
    clock.reportActivity();
    this.#compareWrite(set);
    const atMs = Math.max(oracle.pending.sinceMs ?? -Infinity, this.#endedAtMs);
    if (oracle.pending.sinceMs !== undefined && clock.monotonicMs() !== atMs) {
      this.#ports.differences.add(`a write started ${clock.monotonicMs() - atMs} ms after its first input`);
    }
    const { deleted } = oracle.pending;
    const expectation = oracle.beginWrite();
    const blindTimes = this.isFailing ? this.#durableBlindTimes : oracle.blindTimes;
    this.#inFlight = { set, expectation, input: this.#inputs, deleted, blindTimes, steadyMs: oracle.steadyMs };
  }

  ended(durable: boolean): void {
    this.#ports.clock.reportActivity();
    this.#endedAtMs = this.#ports.clock.monotonicMs();
    if (durable) this.#deliverDeletions(this.#committed());
    else this.#failed();
  }

  /** Discards all inputs that are not durable. `kept` says whether the write in flight reached the disk. */
  crashed(kept: boolean): void {
    this.isFailing = false;
    if (kept) this.#committed();
    this.#discard();
    this.#ports.oracle.keepBlindTimes(this.#durableBlindTimes);
  }

  #deliverDeletions({ deleted }: WriteInFlight): void {
    for (const key of deleted) if (this.#ports.hasSession(key)) this.#ports.oracle.deleteLateEvents(key);
  }

  #committed(): WriteInFlight {
    const { oracle, handlerRuns } = this.#ports;
    const inFlight = this.#inFlight;
    if (inFlight === undefined) throw new Error('nothing was written');
    this.#inFlight = undefined;
    this.durable = inFlight.expectation;
    this.#durableInput = inFlight.input;
    this.#durableBlindTimes = inFlight.blindTimes;
    this.aliveMs = inFlight.steadyMs;
    handlerRuns.committed(inFlight.set, (name) => inFlight.expectation.handlers.has(name));
    if (this.isFailing) {
      this.isFailing = false;
      oracle.wasBlind(oracle.steadyMs, oracle.steadyMs - this.#failedAtMs);
      this.#ports.recovered();
    }
    return inFlight;
  }

  #failed(): void {
    this.#discard();
    if (this.isFailing) return;
    this.isFailing = true;
    this.#failedAtMs = this.#ports.oracle.steadyMs;
    this.#ports.failed();
  }

  #discard(): void {
    const { oracle } = this.#ports;
    for (let input = this.#durableInput + 1; input <= this.#inputs; input += 1) this.#lost.add(input);
    this.#durableInput = this.#inputs;
    this.#inFlight = undefined;
    oracle.revertTo(this.durable);
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
      differences.compare(`highest number of queue ${id}`, head.queues.get(id), stored);
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

  /** Compares all records on the disk with the expectation. */
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
      // The store keeps only the latest queues of an agent.
      if (stored !== undefined) differences.compare(`highest number of queue ${id}`, n, stored.n);
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

/** Leaves out the backend's own entity, which the oracle does not predict. */
const inNamespace = (rows: ReadonlyMap<string, unknown>): string[] =>
  [...rows.keys()].filter((key) => key.startsWith('default/'));
