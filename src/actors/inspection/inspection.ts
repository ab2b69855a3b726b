import { setImmediate as nextTick } from 'node:timers/promises';
import { type ActorAddress, sessionIdOf } from '../../resources/actor-address.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Committer } from '../../store/committer.ts';
import type { LedgerDraft } from '../../store/ledger.ts';
import type { ActorSnapshot } from '../../store/records.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';
import type { Decider } from '../core/decider.ts';
import type { ActorStep, DecisionObserver } from '../core/decision-observer.ts';
import { InspectMessages, type InspectedSnapshot } from './messages.ts';
import { InspectPast } from './past.ts';
import { type Position, positionText, type Since } from './position.ts';
import { InspectRing } from './message-ring.ts';
import type { ActorKinds } from '../core/actor-kind.ts';
import { isRecordedKind, recordedState, stepOf } from './recorded-states.ts';
import type { Machines } from '../core/machines.ts';

/** How long an actor stays watched after its last reader disconnected. A reader that reconnects in that time misses nothing. */
const LINGER_MS = 60_000;
/** The maximum number of watched actors without a reader. Beyond it the one without a reader for the longest time is dropped. */
const MAX_LINGERING = 100;
/** Past entries are sent at the pace of the reader until at most this many are missing. These are sent together. */
const CATCH_UP_ENTRIES = 200;
/** Past messages that are sent before the sender waits for the reader. */
const DRAIN_EVERY = 100;
/** The event of the snapshot that follows the past. */
const PAST_ENDED = 'inspection.past-ended';

/** A receiver of messages. */
export interface InspectReader {
  /** Receives one message as text. Must not throw. */
  send(text: string): void;
  /** Resolves when all messages have left the process, or the reader has disconnected. */
  drained(): Promise<void>;
  /** Ends the messages after an error, which has been logged. */
  fail(): void;
}

export interface InspectionPorts {
  decider: Pick<Decider, 'observer'>;
  committer: Pick<Committer, 'get' | 'keys' | 'head' | 'decidedSeq' | 'whenDurable'>;
  store: Pick<TransactionalStore, 'ledger'>;
  kinds: ActorKinds;
  machines: Machines;
  clock: Clock;
  log: Log;
}

interface Watched {
  address: ActorAddress;
  ring: InspectRing;
  /** Readers that receive its new messages. */
  readers: Set<InspectReader>;
  /** The number of attached readers, including those that still receive the past. */
  holders: number;
  endLingering: (() => void) | undefined;
}

interface Attachment {
  reader: InspectReader;
  actors: Watched[];
  isOpen: boolean;
}

/**
 * Sends the committed steps of watched actors to readers. To a reader, an actor exists as long as its key, awake or asleep. Without
 * watched actors, decisions have no extra cost.
 */
export class Inspection implements DecisionObserver {
  readonly #ports: InspectionPorts;
  readonly #messages: InspectMessages;
  readonly #watched: Record<ActorAddress['actor'], Map<string, Watched>> = {
    entity: new Map(),
    'check-ttl': new Map(),
    connection: new Map(),
    'check-schedule': new Map(),
    'check-state': new Map(),
    silence: new Map(),
  };
  /** Watched actors without readers, in the order in which they lost the last one. */
  readonly #lingering = new Set<Watched>();
  #sent = 0;

  constructor(ports: InspectionPorts) {
    this.#ports = ports;
    this.#messages = new InspectMessages(ports.machines);
  }

  /** @throws InvalidResource when the position is after the end of the ledger */
  assertReached({ seq }: Since): void {
    const { head } = this.#ports.committer;
    if (seq > head.seq)
      throw new InvalidResource(`since must not lie ahead of the ledger, which ends with ${head.seq}`);
  }

  /**
   * Sends the current state of each actor and then its steps to `reader`. With `since` it first sends what happened after that
   * position: the messages while they are kept, otherwise the transitions in the ledger. The returned function detaches the reader.
   */
  attach(addresses: readonly ActorAddress[], since: Since | undefined, reader: InspectReader): () => void {
    const attachment = { reader, actors: addresses.map((address) => this.#hold(address)), isOpen: true };
    const position = since?.n === undefined ? undefined : { seq: since.seq, n: since.n };
    if (position !== undefined && attachment.actors.every(({ ring }) => ring.reachesBackTo(position))) {
      resume(attachment, position);
    } else {
      this.#begin(attachment, since?.seq).catch((err: unknown) => {
        this.#failed(attachment, err);
      });
    }
    return () => {
      this.#detach(attachment);
    };
  }

  watches(kind: ActorAddress['actor'], key: string): boolean {
    return this.#watched[kind].has(key);
  }

  stepOf(entry: LedgerDraft): ReturnType<DecisionObserver['stepOf']> {
    const { actor, key } = entry;
    return isRecordedKind(actor) && this.watches(actor, key) ? stepOf(actor, entry) : undefined;
  }

  decided(steps: readonly ActorStep[], ledgerEntries: number, durable: Promise<void>): void {
    const entriesBefore = this.#ports.committer.decidedSeq - ledgerEntries;
    durable
      .then(
        () => {
          for (const step of steps) this.#publish(step, entriesBefore + step.ledgerEntries);
        },
        // The decision was lost and had no effect.
        () => undefined,
      )
      .catch((err: unknown) => {
        this.#ports.log.error({ err }, 'inspection failed');
        for (const { kind, key } of steps) {
          for (const reader of this.#watched[kind].get(key)?.readers ?? []) reader.fail();
        }
      });
  }

  /** Stops watching all actors. */
  stop(): void {
    for (const actors of Object.values(this.#watched)) {
      for (const watched of actors.values()) watched.endLingering?.();
      actors.clear();
    }
    this.#lingering.clear();
    this.#ports.decider.observer = undefined;
  }

  #publish({ kind, key, atMs, event, after, isTransition }: ActorStep, seq: number): void {
    const watched = this.#watched[kind].get(key);
    if (watched === undefined) return;
    const { address } = watched;
    const redact = this.#redactionOf(address);
    const publish = (afterSeq: number, write: (origin: Parameters<InspectMessages['actor']>[0]) => string): void => {
      const at = this.#next(afterSeq);
      const text = write({ address, atMs, seq: positionText(at), redact });
      watched.ring.push({ at, text });
      for (const reader of watched.readers) reader.send(text);
    };
    if (event === undefined) {
      publish(seq, (origin) => this.#messages.actor(origin, after));
      return;
    }
    publish(isTransition ? seq - 1 : seq, (origin) => this.#messages.event(origin, event));
    publish(seq, (origin) => this.#messages.snapshot(origin, event, after));
  }

  /** Sends the past if requested, then the current state and new messages. */
  async #begin(attachment: Attachment, sinceSeq: number | undefined): Promise<void> {
    const { committer, store } = this.#ports;
    const past = new InspectPast(
      attachment.actors.map(({ address }) => address),
      { store, messages: this.#messages, redactionOf: (address) => this.#redactionOf(address) },
    );
    let doneSeq = sinceSeq;
    while (doneSeq !== undefined && attachment.isOpen && committer.head.seq - doneSeq > CATCH_UP_ENTRIES) {
      const untilSeq = committer.head.seq;
      let sent = 0;
      for (const text of past.between(doneSeq, untilSeq)) {
        attachment.reader.send(text);
        sent += 1;
        if (sent % DRAIN_EVERY === 0) {
          await attachment.reader.drained();
          await nextTick();
        }
        if (!attachment.isOpen) return;
      }
      doneSeq = untilSeq;
    }
    this.#join(attachment, past, doneSeq);
  }

  /**
   * Reads the state of the actors after the last decision, and sends it when that decision is durable. Later steps follow it. No
   * asynchronous step may come between the promise and its handler, or messages would be lost.
   */
  #join(attachment: Attachment, past: InspectPast, doneSeq: number | undefined): void {
    const { committer, kinds, clock } = this.#ports;
    const seq = committer.decidedSeq;
    const atMs = clock.nowMs();
    const snapshots = attachment.actors.map(({ address: { actor, key } }) =>
      isRecordedKind(actor) ? recordedState(committer, actor, key) : kinds[actor].snapshotOf(committer, key),
    );
    const sendSnapshots = (): void => {
      if (!attachment.isOpen) return;
      if (doneSeq !== undefined) for (const text of past.between(doneSeq, seq)) attachment.reader.send(text);
      for (const [index, watched] of attachment.actors.entries()) {
        const snapshot = snapshots[index];
        if (snapshot !== undefined) attachment.reader.send(this.#present(watched, snapshot, { past, seq, atMs }));
        watched.readers.add(attachment.reader);
      }
    };
    const readAgain = (): void => {
      // The state that was read was lost with its decision, and is read again.
      if (attachment.isOpen) this.#join(attachment, past, doneSeq);
    };
    committer
      .whenDurable()
      .then(sendSnapshots, readAgain)
      .catch((err: unknown) => {
        this.#failed(attachment, err);
      });
  }

  /** Returns the message with the current state: a registration, or a snapshot if the past has registered the actor. */
  #present(
    { address }: Watched,
    { value, context }: Pick<ActorSnapshot, 'value' | 'context'>,
    { past, seq, atMs }: { past: InspectPast; seq: number; atMs: number },
  ): string {
    const origin = { address, atMs, seq: positionText(this.#next(seq)), redact: this.#redactionOf(address) };
    const snapshot: InspectedSnapshot = { status: 'active', value, context };
    return past.registered.has(sessionIdOf(address))
      ? this.#messages.snapshot(origin, { type: PAST_ENDED }, snapshot)
      : this.#messages.actor(origin, snapshot);
  }

  #next(seq: number): Position {
    this.#sent += 1;
    return { seq, n: this.#sent };
  }

  #redactionOf({ actor, key }: ActorAddress): readonly string[] | undefined {
    if (actor !== 'entity' && actor !== 'check-ttl' && actor !== 'check-state') return undefined;
    const [namespace = '', name = ''] = key.split('/');
    return readResource(this.#ports.committer, 'entities', namespace, name)?.redact ?? undefined;
  }

  #hold(address: ActorAddress): Watched {
    const { decider, committer } = this.#ports;
    const actors = this.#watched[address.actor];
    let watched = actors.get(address.key);
    if (watched === undefined) {
      const ring = new InspectRing(this.#next(committer.decidedSeq));
      watched = { address, ring, readers: new Set(), holders: 0, endLingering: undefined };
      actors.set(address.key, watched);
      decider.observer = this;
    }
    watched.holders += 1;
    watched.endLingering?.();
    watched.endLingering = undefined;
    this.#lingering.delete(watched);
    return watched;
  }

  #detach(attachment: Attachment): void {
    if (!attachment.isOpen) return;
    attachment.isOpen = false;
    for (const watched of attachment.actors) {
      watched.readers.delete(attachment.reader);
      watched.holders -= 1;
      if (watched.holders === 0) this.#linger(watched);
    }
  }

  #linger(watched: Watched): void {
    watched.endLingering = this.#ports.clock.after(LINGER_MS, () => {
      this.#forget(watched);
    });
    this.#lingering.add(watched);
    const [oldest] = this.#lingering;
    if (this.#lingering.size > MAX_LINGERING && oldest !== undefined) this.#forget(oldest);
  }

  #forget(watched: Watched): void {
    watched.endLingering?.();
    this.#lingering.delete(watched);
    this.#watched[watched.address.actor].delete(watched.address.key);
    if (Object.values(this.#watched).every(({ size }) => size === 0)) this.#ports.decider.observer = undefined;
  }

  #failed(attachment: Attachment, err: unknown): void {
    this.#ports.log.error({ err }, 'inspection failed');
    attachment.reader.fail();
  }
}

/** Sends the missed messages of all actors in order, and adds the reader for new ones. */
function resume({ reader, actors }: Attachment, position: Position): void {
  const missed = actors.flatMap(({ ring }) => ring.after(position)).toSorted((one, other) => one.at.n - other.at.n);
  for (const { text } of missed) reader.send(text);
  for (const watched of actors) watched.readers.add(reader);
}
