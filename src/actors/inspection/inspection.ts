import { setImmediate as nextTick } from 'node:timers/promises';
import { type ActorAddress, sessionIdOf } from '../../resources/actor-address.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Committer } from '../../store/commit/committer.ts';
import type { LedgerDraft } from '../../store/ledger/ledger.ts';
import type { ActorSnapshot } from '../../store/records/records.ts';
import type { TableReader } from '../../store/records/table-reader.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { Decider } from '../core/decider.ts';
import type { ActorStep, DecisionObserver } from '../core/decision-observer.ts';
import { type Attachment, type InspectReader, resume, type WatchedActor } from './attachment.ts';
import { InspectMessages, type InspectedSnapshot } from './messages.ts';
import { InspectPast } from './past.ts';
import { type Position, positionText, type Since } from './position.ts';
import { MessageRing } from './message-ring.ts';
import type { ActorKinds } from '../core/actor-kind.ts';
import { isRecordedKind, recordedState, stepOf } from './recorded-states.ts';
import { redactedWords } from './redacted-words.ts';
import type { Machines } from '../core/machines.ts';

/** The time for which an actor stays watched after its last reader has disconnected, so that a reader that reconnects misses nothing. */
const LINGER_MS = 60_000;
/** The maximum number of actors that are watched without a reader. Beyond it, the one without a reader for longest is dropped. */
const MAX_LINGERING = 100;
/** Past entries are sent at the reader's speed until at most this many are left; these are sent at once. */
const CATCH_UP_ENTRIES = 200;
/** The number of past messages after which the reader must have received all messages before more are sent. */
const DRAIN_EVERY = 100;
/** The event type of the snapshot that follows the past transitions. */
const PAST_ENDED = 'inspection.past-ended';

export interface InspectionPorts {
  decider: Pick<Decider, 'observer'>;
  committer: Pick<Committer, 'keys' | 'head' | 'decidedSeq' | 'whenDurable'>;
  /** Reads without what pending deletions hide. */
  visible: TableReader;
  store: Pick<TransactionalStore, 'ledgerSlice'>;
  kinds: ActorKinds;
  machines: Machines;
  clock: Clock;
  log: Log;
}

/**
 * Sends the committed events and snapshots of watched actors to readers. For readers an actor exists as long as its key exists,
 * even when it is evicted. Without watched actors, decisions have no additional cost.
 */
export class Inspection implements DecisionObserver {
  readonly #ports: InspectionPorts;
  readonly #messages: InspectMessages;
  readonly #watched: Record<ActorAddress['actor'], Map<string, WatchedActor>> = {
    entity: new Map(),
    'check-ttl': new Map(),
    connection: new Map(),
    'check-schedule': new Map(),
    'check-state': new Map(),
    silence: new Map(),
  };
  /** Watched actors without readers, in the order in which their last readers disconnected. */
  readonly #lingering = new Set<WatchedActor>();
  #sent = 0;

  constructor(ports: InspectionPorts) {
    this.#ports = ports;
    this.#messages = new InspectMessages(ports.machines);
  }

  /** Asserts that `since` is a position that the ledger has reached. @throws InvalidResource */
  assertReached({ seq }: Since): void {
    const { head } = this.#ports.committer;
    if (seq > head.seq) throw new InvalidResource(`since must not be greater than the last ledger entry, ${head.seq}`);
  }

  /**
   * Sends `reader` the current snapshots of these actors, then their messages. With `since`, the messages after that position come
   * first if they are still kept, otherwise the transitions from the ledger. Returns a function that detaches the reader.
   */
  attach(addresses: readonly ActorAddress[], since: Since | undefined, reader: InspectReader): () => void {
    const attachment = { reader, actors: addresses.map((address) => this.#watch(address)), isOpen: true };
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
        // The decision was lost and has no effect.
        () => undefined,
      )
      .catch((err: unknown) => {
        this.#ports.log.error({ err }, 'could not send messages to an inspector');
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
    const redact = redactedWords(this.#ports.visible, address);
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

  /** Sends the past transitions, if the reader requested them, then the current snapshots. */
  async #begin(attachment: Attachment, sinceSeq: number | undefined): Promise<void> {
    const { committer, store } = this.#ports;
    const past = new InspectPast(
      attachment.actors.map(({ address }) => address),
      { store, messages: this.#messages, redactionOf: (address) => redactedWords(this.#ports.visible, address) },
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
    this.#sendSnapshots(attachment, past, doneSeq);
  }

  /**
   * Reads the snapshots of the actors as decided now, sends them when they are durable, and then subscribes the reader. Nothing may
   * be awaited between the promise and its callback: otherwise the reader would miss messages of later decisions.
   */
  #sendSnapshots(attachment: Attachment, past: InspectPast, doneSeq: number | undefined): void {
    const { committer, visible, kinds, clock } = this.#ports;
    const seq = committer.decidedSeq;
    const atMs = clock.nowMs();
    const snapshots = attachment.actors.map(({ address: { actor, key } }) =>
      isRecordedKind(actor) ? recordedState(visible, actor, key) : kinds[actor].snapshotOf(visible, key),
    );
    const sendAndSubscribe = (): void => {
      if (!attachment.isOpen) return;
      if (doneSeq !== undefined) for (const text of past.between(doneSeq, seq)) attachment.reader.send(text);
      for (const [index, watched] of attachment.actors.entries()) {
        const snapshot = snapshots[index];
        if (snapshot !== undefined)
          attachment.reader.send(this.#currentMessage(watched, snapshot, { past, seq, atMs }));
        watched.readers.add(attachment.reader);
      }
    };
    const readAgain = (): void => {
      // The snapshots belong to a lost decision.
      if (attachment.isOpen) this.#sendSnapshots(attachment, past, doneSeq);
    };
    committer
      .whenDurable()
      .then(sendAndSubscribe, readAgain)
      .catch((err: unknown) => {
        this.#failed(attachment, err);
      });
  }

  /** Registers an actor with its current snapshot; for an actor that past transitions have registered, sends the snapshot only. */
  #currentMessage(
    { address }: WatchedActor,
    { value, context }: Pick<ActorSnapshot, 'value' | 'context'>,
    { past, seq, atMs }: { past: InspectPast; seq: number; atMs: number },
  ): string {
    const origin = {
      address,
      atMs,
      seq: positionText(this.#next(seq)),
      redact: redactedWords(this.#ports.visible, address),
    };
    const snapshot: InspectedSnapshot = { status: 'active', value, context };
    return past.registered.has(sessionIdOf(address))
      ? this.#messages.snapshot(origin, { type: PAST_ENDED }, snapshot)
      : this.#messages.actor(origin, snapshot);
  }

  #next(seq: number): Position {
    this.#sent += 1;
    return { seq, n: this.#sent };
  }

  #watch(address: ActorAddress): WatchedActor {
    const { decider, committer } = this.#ports;
    const actors = this.#watched[address.actor];
    let watched = actors.get(address.key);
    if (watched === undefined) {
      const ring = new MessageRing(this.#next(committer.decidedSeq));
      watched = { address, ring, readers: new Set(), attached: 0, endLingering: undefined };
      actors.set(address.key, watched);
      decider.observer = this;
    }
    watched.attached += 1;
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
      watched.attached -= 1;
      if (watched.attached === 0) this.#linger(watched);
    }
  }

  #linger(watched: WatchedActor): void {
    watched.endLingering = this.#ports.clock.after(LINGER_MS, () => {
      this.#forget(watched);
    });
    this.#lingering.add(watched);
    const [oldest] = this.#lingering;
    if (this.#lingering.size > MAX_LINGERING && oldest !== undefined) this.#forget(oldest);
  }

  #forget(watched: WatchedActor): void {
    watched.endLingering?.();
    this.#lingering.delete(watched);
    this.#watched[watched.address.actor].delete(watched.address.key);
    if (Object.values(this.#watched).every(({ size }) => size === 0)) this.#ports.decider.observer = undefined;
  }

  #failed(attachment: Attachment, err: unknown): void {
    this.#ports.log.error({ err }, 'could not send messages to an inspector');
    attachment.reader.fail();
  }
}
