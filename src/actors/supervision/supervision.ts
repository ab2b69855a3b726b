import type { Log } from '../../ports/log.ts';
import { ExpectedError } from '../../resources/errors.ts';
import { ActorFailed } from '../core/actor-failed.ts';
import type { ActorKind, ActorKinds } from '../core/actor-kind.ts';
import type { LedgerCause } from '../../store/ledger/ledger.ts';
import type { Decider } from '../core/decider.ts';
import type { ActorFailure, FailureQueue } from '../core/failure-queue.ts';
import { type DeadlineQueue, NO_INPUT } from '../time/deadline-queue.ts';
import type { Quarantine } from './quarantine.ts';
import { mergeOwnEvent } from './own-event.ts';
import { quarantineResult } from './quarantine-event.ts';

/** The name of the end of a quarantine in the deadline queue and in the ledger. */
export const QUARANTINE = 'quarantine';

export interface SupervisionPorts {
  failures: Pick<FailureQueue, 'handleWith'>;
  quarantine: Quarantine;
  decider: Decider;
  kinds: ActorKinds;
  deadlineQueue: Pick<DeadlineQueue, 'set' | 'drop'>;
  armed: {
    /** Arms an actor's deadline again from its record. */
    rearm(kind: ActorKind, key: string): void;
    /** The input that the deadline in its record counts from. */
    storedInputAtMs(kind: ActorKind, key: string): number | undefined;
  };
  backendName: string;
  /** Steady time, ms. */
  steadyMs(): number;
  log: Log;
}

/** Returns the actor that `<kind>/<key>` names. */
function actorOf(id: string): { kind: ActorKind; key: string } {
  const slash = id.indexOf('/');
  return { kind: id.slice(0, slash) as ActorKind, key: id.slice(slash + 1) };
}

/**
 * Handles every failure that a supervisor receives: logs it, writes `actor.failed` to the ledger and wakes the actor again, or
 * quarantines it after too many failures.
 */
export class Supervision {
  /** How often actors of a kind have failed since the process started. */
  readonly failures: Record<ActorKind, number> = { entity: 0, 'check-ttl': 0, connection: 0, 'check-schedule': 0 };
  readonly #ports: SupervisionPorts;

  constructor(ports: SupervisionPorts) {
    this.#ports = ports;
    ports.failures.handleWith((failure, cause) => {
      this.#handle(failure, cause);
    });
  }

  isQuarantined(kind: ActorKind, key: string): boolean {
    return this.#ports.quarantine.has(kind, key);
  }

  /** How many actors of a kind are in quarantine. */
  quarantined(kind: ActorKind): number {
    return this.#ports.quarantine.quarantined.filter((id) => id.startsWith(`${kind}/`)).length;
  }

  /** Ends an actor's quarantine. False when it is not in quarantine. @throws StoreUnavailable */
  release(kind: ActorKind, key: string, cause: LedgerCause): boolean {
    const { quarantine, decider, backendName, steadyMs, deadlineQueue, armed } = this.#ports;
    if (!quarantine.has(kind, key)) return false;
    const id = `${kind}/${key}`;
    // Recorded first: when that fails the actor stays in quarantine, and the release is tried again.
    decider.decide({ cause, unbounded: true }, (ctx) => {
      ctx.record({ actor: QUARANTINE, key: id, from: 'quarantined', event: 'released', to: null });
      const others = quarantine.quarantined.filter((other) => other !== id);
      mergeOwnEvent(ctx, backendName, quarantineResult(others));
    });
    quarantine.release(kind, key, steadyMs());
    deadlineQueue.drop(QUARANTINE, id);
    armed.rearm(kind, key);
    this.#wakeAgain(kind, key, cause);
    return true;
  }

  /** Ends the quarantine of `<kind>/<key>`, as the deadline queue names it. */
  releaseById(id: string, cause: LedgerCause): void {
    const { kind, key } = actorOf(id);
    this.release(kind, key, cause);
  }

  /** Releases an actor from quarantine or wakes it. False when there is nothing to wake. @throws StoreUnavailable */
  wake(kind: ActorKind, key: string, cause: LedgerCause): boolean {
    if (this.release(kind, key, cause)) return true;
    try {
      return this.#ports.decider.decide({ cause, unbounded: true }, (ctx) => ctx.wake(kind, key)).result;
    } catch (error) {
      if (!(error instanceof ActorFailed)) throw error;
      // There is an actor; its failure has been handled.
      return true;
    }
  }

  /** The inputs that the deadlines of quarantined actors count from, steady time, ms. These deadlines are armed again at the release. */
  *quarantinedInputsAtMs(): Iterable<number> {
    const { quarantine, armed } = this.#ports;
    for (const id of quarantine.quarantined) {
      const { kind, key } = actorOf(id);
      const inputAtMs = armed.storedInputAtMs(kind, key);
      if (inputAtMs !== undefined) yield inputAtMs;
    }
  }

  forgetHealthy(): void {
    this.#ports.quarantine.forgetHealthy(this.#ports.steadyMs());
  }

  #handle(failure: ActorFailure, cause: LedgerCause): void {
    const { kind, key, cause: error } = failure;
    const { quarantine, kinds, deadlineQueue, steadyMs, log } = this.#ports;
    this.failures[kind] += 1;
    log.error({ actor: kind, key, err: error }, 'actor failed');
    const waitMs = quarantine.failed(kind, key, steadyMs());
    if (waitMs !== undefined) {
      kinds[kind].evict(key);
      deadlineQueue.drop(kind, key);
      deadlineQueue.set(QUARANTINE, `${kind}/${key}`, steadyMs() + waitMs, NO_INPUT);
      log.error({ actor: kind, key, retry_in_s: waitMs / 1_000 }, 'actor quarantined');
    } else if (!quarantine.has(kind, key)) {
      this.#wakeAgain(kind, key, cause);
    }
    this.#record(failure, waitMs, cause);
  }

  /** Wakes the actor from its last committed record, or rebuilds it from domain data when that cannot be restored. */
  #wakeAgain(kind: ActorKind, key: string, cause: LedgerCause): void {
    const { decider, log } = this.#ports;
    try {
      decider.decide({ cause, unbounded: true }, (ctx) => {
        // A schedule has no record: it is rebuilt from its check.
        if (!ctx.wake(kind, key) && kind === 'check-schedule') ctx.rebuild(kind, key);
      });
    } catch (error) {
      if (!(error instanceof ActorFailed || error instanceof ExpectedError)) throw error;
      log.warn({ actor: kind, key, err: error }, 'could not wake the actor again; its next event wakes it');
    }
  }

  #record({ kind, key, cause: thrown }: ActorFailure, waitMs: number | undefined, cause: LedgerCause): void {
    const { quarantine, decider, kinds, backendName, log } = this.#ports;
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    const state = kinds[kind].stateOf(key) ?? null;
    try {
      decider.decide({ cause, unbounded: true }, (ctx) => {
        ctx.record({ actor: kind, key, from: state, event: 'actor.failed', to: state, details: { error } });
        if (waitMs === undefined) return;
        ctx.record({
          actor: QUARANTINE,
          key: `${kind}/${key}`,
          from: null,
          event: 'actor.failed',
          to: 'quarantined',
          details: { retryInMs: waitMs },
        });
        mergeOwnEvent(ctx, backendName, quarantineResult(quarantine.quarantined));
      });
    } catch (refusal) {
      if (!(refusal instanceof ExpectedError)) throw refusal;
      log.error({ actor: kind, key, err: refusal }, "could not record the actor's failure");
    }
  }
}
