import { type ActorAddress, sessionIdOf } from '../../resources/actor-address.ts';
import type { LedgerEntry } from '../../store/ledger/ledger.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { contextAfter, endState, isRecordedKind } from './recorded-states.ts';
import type { InspectMessages, MessageOrigin } from './messages.ts';

/** Ledger entries of one actor that are read together. */
const PAGE_ENTRIES = 25;

export interface InspectPastPorts {
  store: Pick<TransactionalStore, 'ledgerSlice'>;
  messages: InspectMessages;
  /** Returns the words that the entity of an actor redacts. */
  redactionOf(address: ActorAddress): readonly string[] | undefined;
}

/** Replays the transitions of actors from the ledger as messages. The snapshots have no context, because the ledger does not contain it. */
export class InspectPast {
  /** Session ids of the actors for which a registration was sent. */
  readonly registered = new Set<string>();
  readonly #ports: InspectPastPorts;
  readonly #addresses: readonly ActorAddress[];

  constructor(addresses: readonly ActorAddress[], ports: InspectPastPorts) {
    this.#addresses = addresses;
    this.#ports = ports;
  }

  /** Returns the messages of the entries after `afterSeq` up to `untilSeq`, in the order of the ledger. Entries are read on demand. */
  *between(afterSeq: number, untilSeq: number): Iterable<string> {
    const lanes = this.#addresses.map((address) => ({ address, entries: this.#entries(address, afterSeq, untilSeq) }));
    const heads = lanes.map((lane) => ({ ...lane, next: lane.entries.next().value }));
    for (;;) {
      let first: (typeof heads)[number] | undefined;
      for (const head of heads) {
        if (head.next !== undefined && (first?.next === undefined || head.next.seq < first.next.seq)) first = head;
      }
      if (first?.next === undefined) return;
      yield* this.#messages(first.address, first.next);
      first.next = first.entries.next().value;
    }
  }

  *#entries({ actor, key }: ActorAddress, afterSeq: number, untilSeq: number): Generator<LedgerEntry, undefined> {
    for (let after: number | undefined = afterSeq; after !== undefined;) {
      const slice = this.#ports.store.ledgerSlice({ actor, key, afterSeq: after, limit: PAGE_ENTRIES });
      for (const entry of slice.entries) {
        if (entry.seq > untilSeq) return;
        yield entry;
      }
      after = slice.afterSeq;
    }
  }

  *#messages(address: ActorAddress, entry: LedgerEntry): Iterable<string> {
    const { messages, redactionOf } = this.#ports;
    const { seq, atMs, from, event: type, to, cause, guards, details } = entry;
    const at = (after: number): MessageOrigin => ({ address, atMs, seq: String(after), redact: redactionOf(address) });
    const snapshotOf = (value: string) => ({
      status: messages.statusIn(address, value),
      value,
      context: contextAfter(address.key, isRecordedKind(address.actor) ? details : undefined),
    });
    const isBeginning = from === null && to !== null;
    const id = sessionIdOf(address);
    if (isBeginning || !this.registered.has(id)) {
      this.registered.add(id);
      yield messages.actor(at(isBeginning ? seq : seq - 1), snapshotOf(from ?? to ?? ''));
    }
    if (isBeginning) return;
    const event = { type, cause, guards, ...(details === undefined ? {} : { details }) };
    yield messages.event(at(seq - 1), event);
    const state = to ?? (isRecordedKind(address.actor) ? endState(address.actor, type) : undefined);
    if (state !== undefined) yield messages.snapshot(at(seq), event, snapshotOf(state));
  }
}
