import type { Log } from '../../ports/log.ts';
import { ExpectedError } from '../../resources/errors.ts';
import { type DeadlineQueue, NO_INPUT } from '../time/deadline-queue.ts';
import type { Decider } from '../core/decider.ts';
import { ActorFailed } from '../core/keyed-actors.ts';
import type { ActorKind, ActorKinds } from '../core/actor-kind.ts';
import { Quarantine } from './quarantine.ts';
import { publishQuarantine } from './quarantine-event.ts';
import type { TableReader } from '../../store/decision.ts';

/** The wheel's word for the end of a quarantine. */
export const QUARANTINE = 'quarantine';

export interface SupervisionPorts {
  decider: Decider;
  reader: TableReader;
  kinds: ActorKinds;
  deadlineQueue: DeadlineQueue;
  backendName: string;
  /** Steady time, ms. */
  steadyMs(): number;
  log: Log;
  /** Arms the actor's deadline again, as its record says. */
  rearm(kind: ActorKind, key: string): void;
}

/** What happens when an actor throws: it is on record, evicted and woken; after too many failures it is left alone for a while. */
export class Supervision {
  /** How often actors of a kind have failed. */
  readonly failures: Record<ActorKind, number> = { entity: 0, 'check-ttl': 0, connection: 0, 'check-schedule': 0 };
  readonly #quarantine = new Quarantine();
  readonly #ports: SupervisionPorts;

  constructor(ports: SupervisionPorts) {
    this.#ports = ports;
  }

  isQuarantined(kind: ActorKind, key: string): boolean {
    return this.#quarantine.has(kind, key);
  }

  /** How many actors of a kind are in quarantine. */
  quarantined(kind: ActorKind): number {
    return this.#quarantine.quarantined.filter((id) => id.startsWith(`${kind}/`)).length;
  }

  failed(failure: ActorFailed): void {
    const { kinds, deadlineQueue, steadyMs, log } = this.#ports;
    const kind = failure.actor as ActorKind;
    const { key, cause } = failure;
    this.failures[kind] += 1;
    log.error({ actor: kind, key, err: cause }, 'actor failed');
    const waitMs = this.#quarantine.failed(kind, key, steadyMs());
    if (waitMs !== undefined) {
      kinds[kind].rest(key);
      deadlineQueue.drop(kind, key);
      deadlineQueue.set(QUARANTINE, `${kind}/${key}`, steadyMs() + waitMs, NO_INPUT);
      log.error({ actor: kind, key, retry_in_s: waitMs / 1_000 }, 'actor quarantined');
    } else if (!this.isQuarantined(kind, key)) {
      this.#wakeAgain(kind, key);
    }
    this.#record(kind, key, cause, waitMs);
  }

  /** The quarantine's time is over, or a person says so. False when the actor is not in quarantine. */
  release(kind: ActorKind, key: string): boolean {
    const { decider, backendName, steadyMs, deadlineQueue, rearm } = this.#ports;
    if (!this.isQuarantined(kind, key)) return false;
    const id = `${kind}/${key}`;
    // First on record: what cannot be recorded now stays as it is, and is tried again.
    decider.decide({ cause: { restore: true }, unbounded: true }, (ctx) => {
      ctx.record({ actor: QUARANTINE, key: id, from: 'quarantined', event: 'released', to: null });
      const others = this.#quarantine.quarantined.filter((other) => other !== id);
      publishQuarantine(ctx, backendName, others);
    });
    this.#quarantine.release(kind, key, steadyMs());
    deadlineQueue.drop(QUARANTINE, id);
    rearm(kind, key);
    this.#wakeAgain(kind, key);
    return true;
  }

  /** By `<actor>/<key>`, as the wheel has it. */
  releaseById(id: string): void {
    const slash = id.indexOf('/');
    this.release(id.slice(0, slash) as ActorKind, id.slice(slash + 1));
  }

  forgetHealthy(): void {
    this.#quarantine.forgetHealthy(this.#ports.steadyMs());
  }

  #wakeAgain(kind: ActorKind, key: string): void {
    const { decider, kinds, reader, log } = this.#ports;
    try {
      if (kinds[kind].wake(reader, key) !== undefined || kind !== 'check-schedule') return;
      // A schedule has no record: it is made again from its check.
      decider.decide({ cause: { restore: true }, unbounded: true }, (ctx) => {
        kinds[kind].rebuild(ctx.decision, key);
      });
    } catch (error) {
      if (!(error instanceof ActorFailed || error instanceof ExpectedError)) throw error;
      // Its record cannot be restored: it sleeps until its next event, which begins it anew from domain data.
      log.warn({ actor: kind, key, err: error }, 'actor cannot be woken again');
    }
  }

  #record(kind: ActorKind, key: string, cause: unknown, waitMs: number | undefined): void {
    const { decider, kinds, backendName, log } = this.#ports;
    const error = cause instanceof Error ? cause.message : String(cause);
    const state = kinds[kind].stateOf(key) ?? null;
    try {
      decider.decide({ cause: { restore: true }, unbounded: true }, (ctx) => {
        ctx.record({ actor: kind, key, from: state, event: 'actor.failed', to: state, details: { error } });
        if (waitMs === undefined) return;
        const details = { retryInMs: waitMs };
        ctx.record({
          actor: QUARANTINE,
          key: `${kind}/${key}`,
          from: null,
          event: 'actor.failed',
          to: 'quarantined',
          details,
        });
        publishQuarantine(ctx, backendName, this.#quarantine.quarantined);
      });
    } catch (refusal) {
      if (!(refusal instanceof ExpectedError)) throw refusal;
      log.error({ actor: kind, key, err: refusal }, 'failure of an actor is not on record');
    }
  }
}
