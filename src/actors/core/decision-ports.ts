import type { ActorSnapshot } from '../../machines/actor-snapshot.ts';
import type { KeyedTableReader } from '../../store/commit/decision.ts';
import type { LedgerCause } from '../../store/ledger/ledger.ts';
import type { ActorKind, ActorKinds } from './actor-kind.ts';
import type { DecisionObserver } from './decision-observer.ts';
import type { EntityRoom } from './entity-room.ts';
import type { GuardLog } from './guard-log.ts';
import type { Settings } from './settings.ts';
import type { TickBook } from './tick-book.ts';

/** The result of sending an event to an actor. */
export interface Sent {
  /** Undefined when the actor has ended. */
  snapshot: ActorSnapshot | undefined;
  /** Its top-level state after the event. */
  state: string;
}

/** Shared by all decisions. */
export interface DecisionContextPorts {
  reader: KeyedTableReader;
  kinds: ActorKinds;
  guards: GuardLog;
  quarantine: { has(kind: ActorKind, key: string): boolean };
  pressure: { readonly isOutboxFull: boolean };
  settings: Settings;
  ticks: TickBook;
  /** The limits of the stored results of one entity. */
  room: EntityRoom;
}

/** The time and the cause of a decision. */
export interface DecisionOptions {
  nowMs: number;
  steadyMs: number;
  cause: LedgerCause;
  observer: DecisionObserver | undefined;
}
