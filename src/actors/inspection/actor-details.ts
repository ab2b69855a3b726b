import type { ActorAddress } from '../../resources/actor-address.ts';
import { sessionIdOf } from '../../resources/actor-address.ts';
import { StoreUnavailable } from '../../resources/errors.ts';
import { redactFields } from '../../resources/redaction.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../../store/commit/committer.ts';
import type { TableReader } from '../../store/records/table-reader.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { ActorKinds } from '../core/actor-kind.ts';
import type { DeadlineQueue } from '../time/deadline-queue.ts';
import { isRecordedKind, recordedState } from './recorded-states.ts';
import { redactedWords } from './redacted-words.ts';
import { StateTimes } from './state-since.ts';

export interface ActorDetailsPorts {
  committer: Pick<Committer, 'whenDurable' | 'decidedSeq'>;
  /** Reads without what pending deletions hide. */
  visible: TableReader;
  store: Pick<TransactionalStore, 'lastLedgerEntry' | 'ledgerSliceOfKey'>;
  kinds: ActorKinds;
  deadlineQueue: Pick<DeadlineQueue, 'dueInMs'>;
  clock: Clock;
}

/** One actor with its state, nested states included. Its name in the API is the reason for its underscores. */
export interface ActorDetail {
  session_id: string;
  machine: ActorAddress['actor'];
  key: string;
  /** The state as in a snapshot of XState: a name, or an object with the nested state. */
  value: unknown;
  /** When it entered the state, Unix ms; null if none of its newest ledger entries changes the state. */
  since_ms: number | null;
  /** When its deadline is reached, by the wall clock, Unix ms; null when none is armed. */
  deadline_at_ms: number | null;
  /** Redacted. */
  context: unknown;
  /** The ledger entries up to this number are part of the state. */
  seq: number;
}

/** Shows single actors, evicted or not. */
export class ActorDetails {
  readonly #ports: ActorDetailsPorts;

  constructor(ports: ActorDetailsPorts) {
    this.#ports = ports;
  }

  /** Resolves with the state as decided now, when it is durable; with undefined when there is no such actor. @throws StoreUnavailable */
  async of(address: ActorAddress): Promise<ActorDetail | undefined> {
    const { committer } = this.#ports;
    const detail = this.#read(address);
    await committer.whenDurable().catch((cause: unknown) => {
      throw new StoreUnavailable('the state of the actor could not be stored', { cause });
    });
    if (detail === undefined) return undefined;
    // Read after the wait, so that its newest transition may be later than the state.
    return { ...detail, since_ms: new StateTimes(this.#ports.store).sinceMs(address) ?? null };
  }

  /** When the deadline of an actor is reached, by the wall clock, Unix ms; null when none is armed. */
  deadlineAtMs({ actor, key }: ActorAddress): number | null {
    const { deadlineQueue, clock } = this.#ports;
    const dueInMs = deadlineQueue.dueInMs(actor, key);
    return dueInMs === undefined ? null : Math.round(clock.nowMs() + dueInMs);
  }

  #read(address: ActorAddress): Omit<ActorDetail, 'since_ms'> | undefined {
    const { visible, kinds, committer } = this.#ports;
    const { actor, key } = address;
    const found = isRecordedKind(actor) ? recordedState(visible, actor, key) : kinds[actor].snapshotOf(visible, key);
    if (found === undefined) return undefined;
    return {
      session_id: sessionIdOf(address),
      machine: actor,
      key,
      value: found.value,
      deadline_at_ms: this.deadlineAtMs(address),
      context: redactFields(found.context, redactedWords(visible, address)),
      seq: committer.decidedSeq,
    };
  }
}
