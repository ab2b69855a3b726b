import type { Log } from '../../ports/log.ts';
import { StoreUnavailable } from '../../resources/errors.ts';
import { ActorFailed } from '../core/actor-failed.ts';
import type { Decider } from '../core/decider.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { TickBook } from '../core/tick-book.ts';
import { checkOf, sendToSchedule } from '../schedules/schedules.ts';
import { moveNextTick, recordTickAt } from '../ticks/check-ticks.ts';
import { reasonOfLoss, recordEntityTick } from '../ticks/entity-ticks.ts';
import { firstTickOf } from '../ticks/schedule-timing.ts';
import { IN_QUARANTINE, UNEXPLAINED } from '../ticks/tick-gaps.ts';
import type { BlindTime } from '../time/blind-time.ts';
import type { DeadlineQueue } from '../time/deadline-queue.ts';
import { missedTicksResult } from './missed-ticks-event.ts';
import { mergeOwnEvent } from './own-event.ts';

/** A tick that was not taken this long after it was due is missed. Results that blind time delayed have the same time, ms. */
const GRACE_MS = 30_000;
/** Checks and results that one step handles; the others follow at the next one. */
const MAX_AT_ONCE = 500;

export interface TickWatchdogPorts {
  ticks: TickBook;
  blind: Pick<BlindTime, 'intervals'>;
  decider: Pick<Decider, 'maintain'>;
  deadlineQueue: Pick<DeadlineQueue, 'rebuild'>;
  sessions: { get(id: string): object | undefined };
  backendName: string;
  /** Steady time, ms. */
  steadyMs(): number;
  log: Log;
}

/** Finds ticks and results that did not come, records why, and raises an alert for ticks without an explanation. */
export class TickWatchdog {
  readonly #ports: TickWatchdogPorts;
  #published: ReadonlySet<string> = new Set();

  constructor(ports: TickWatchdogPorts) {
    this.#ports = ports;
  }

  beat(): void {
    const { blind, decider, steadyMs, log } = this.#ports;
    const recentMs = steadyMs() - GRACE_MS;
    if ((blind.intervals.at(-1)?.endMs ?? -Infinity) > recentMs) return;
    try {
      decider.maintain('heartbeat.due', (ctx) => {
        this.#takeMissed(ctx);
        this.#recordOverdueOutcomes(ctx);
        this.#recordLostResults(ctx);
        this.#publish(ctx);
      });
    } catch (err) {
      if (!(err instanceof ActorFailed || err instanceof StoreUnavailable)) throw err;
      log.warn({ err }, 'could not record missed ticks; the next heartbeat tries again');
    }
  }

  /** Records the ticks that were not taken, and starts the schedules again. */
  #takeMissed(ctx: DecisionContext): void {
    const { ticks, deadlineQueue, log } = this.#ports;
    let isMissed = false;
    for (const key of first(ticks.overdue(ctx.nowMs - GRACE_MS))) {
      const check = checkOf(ctx.decision, key);
      if (check === undefined) {
        ticks.scheduled(key, undefined);
        continue;
      }
      const nextTickAtMs = firstTickOf(check, ctx.nowMs);
      const isQuarantined = ctx.isQuarantined('check-schedule', key);
      moveNextTick(ctx, key, nextTickAtMs, isQuarantined ? IN_QUARANTINE : UNEXPLAINED);
      ticks.scheduled(key, nextTickAtMs);
      if (isQuarantined) continue;
      isMissed = true;
      log.error({ check: key }, 'a tick has no outcome; the schedule of the check is restarted');
      sendToSchedule(ctx, key, { type: 'schedule.changed', firstTickAtMs: nextTickAtMs });
    }
    // The timer of the queue may be lost.
    if (isMissed) deadlineQueue.rebuild();
  }

  #recordOverdueOutcomes(ctx: DecisionContext): void {
    const { ticks, log } = this.#ports;
    for (const { key, atMs } of first(ticks.overdueOutcomes(ctx.steadyMs))) {
      const isQuarantined = ctx.isQuarantined('check-schedule', key);
      recordTickAt(ctx, key, atMs, isQuarantined ? IN_QUARANTINE : UNEXPLAINED, undefined);
      if (isQuarantined || checkOf(ctx.decision, key) === undefined) continue;
      ticks.missed.add(key);
      log.error({ check: key, tick_ms: atMs }, 'no outcome of a tick was recorded in time');
    }
  }

  #recordLostResults(ctx: DecisionContext): void {
    const { ticks, sessions } = this.#ports;
    const isOpen = (id: string): boolean => sessions.get(id) !== undefined;
    for (const lost of ticks.expected.takeOverdue(ctx.steadyMs, MAX_AT_ONCE)) {
      if (lost.tickAtMs === undefined) continue;
      recordEntityTick(ctx, lost.key, lost.tickAtMs, { outcome: 'lost', reason: reasonOfLoss(lost, isOpen) });
    }
  }

  #publish(ctx: DecisionContext): void {
    const { ticks, backendName } = this.#ports;
    const isSame =
      ticks.missed.size === this.#published.size && [...ticks.missed].every((key) => this.#published.has(key));
    if (isSame) return;
    this.#published = new Set(ticks.missed);
    mergeOwnEvent(ctx, backendName, missedTicksResult(ticks.missed));
  }
}

function first<T>(items: Iterable<T>): T[] {
  const taken: T[] = [];
  for (const item of items) {
    if (taken.length >= MAX_AT_ONCE) break;
    taken.push(item);
  }
  return taken;
}
