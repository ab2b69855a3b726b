import type { ScheduleContext } from '../../machines/check-schedule.ts';
import { StoreUnavailable } from '../../resources/errors.ts';
import type { CheckRequested } from '../../store/commit/decision.ts';
import { entityKey } from '../../store/encoding/keyspace.ts';
import type { LedgerCause } from '../../store/ledger/ledger.ts';
import { ActorFailed } from '../core/actor-failed.ts';
import type { Decider } from '../core/decider.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { RequestReceipt } from '../core/expected-results.ts';
import { moveNextTick, recordTick } from '../ticks/check-ticks.ts';
import { expectResults } from '../ticks/requests.ts';
import { checkOf, CHECKS, scheduleContext, sendToSchedule } from './schedules.ts';

/** Reports rings that got their first member, by a session. Does not throw when the store or an actor fails. */
export function reportRings(
  decider: Decider,
  { id, namespace }: { id: string; namespace: string },
  subscriptions: readonly string[],
): void {
  report(decider, { session: id }, (ctx) => {
    ringsJoined(ctx, namespace, subscriptions);
  });
}

/**
 * Reports to the schedule which sessions received its request, and expects their results. It is called by a listener of
 * announcements and does not throw when the store or an actor fails; other parts report these failures.
 */
export function reportRequest(decider: Decider, requested: CheckRequested, receipts: readonly RequestReceipt[]): void {
  const { adhoc, request, namespace, tickAtMs } = requested;
  const key = entityKey(namespace, request.config.metadata.name ?? '');
  const atMs = request.issued * 1_000;
  report(decider, { deadlineAtMs: tickAtMs ?? atMs }, (ctx) => {
    expectResults(ctx, requested, receipts);
    if (adhoc) return;
    const sent = sendToSchedule(ctx, key, { type: 'request.sent', atMs, sessions: receipts.length });
    const { nextTickAtMs } = (sent?.snapshot?.context ?? {}) as Partial<ScheduleContext>;
    const agents = receipts.length;
    if (agents > 0) recordTick(ctx, key, { outcome: 'ran', agents: [agents, agents] }, nextTickAtMs);
    // The schedule of an existing check records this itself.
    else if (sent === undefined) recordTick(ctx, key, { outcome: 'skipped', reason: 'no agents' }, nextTickAtMs);
  });
}

/** Reports to the schedule that its request was not delivered, because its secrets were changed after the decision. Does not throw. */
export function reportWithheld(decider: Decider, requested: CheckRequested, detail: string): void {
  const { request, namespace, tickAtMs } = requested;
  const key = entityKey(namespace, request.config.metadata.name ?? '');
  const atMs = request.issued * 1_000;
  report(decider, { deadlineAtMs: tickAtMs ?? atMs }, (ctx) => {
    sendToSchedule(ctx, key, { type: 'tick.skipped', atMs, reason: 'secrets not resolved', detail });
  });
}

function report(decider: Decider, cause: LedgerCause, run: (ctx: DecisionContext) => void): void {
  try {
    decider.decide({ cause, unbounded: true }, run);
  } catch (error) {
    if (!(error instanceof ActorFailed || error instanceof StoreUnavailable)) throw error;
  }
}

/** Handles the first member of an empty ring: checks that waited for it run one interval from now. Cron schedules do not change. */
function ringsJoined(ctx: DecisionContext, namespace: string, subscriptions: readonly string[]): void {
  for (const path of ctx.decision.keys('resources', `${CHECKS}${namespace}/`)) {
    const key = path.slice(CHECKS.length);
    const check = checkOf(ctx.decision, key);
    if (check?.round_robin !== true || check.cron !== undefined) continue;
    if (!check.subscriptions.some((subscription) => subscriptions.includes(subscription))) continue;
    sendToSchedule(ctx, key, { type: 'ring.joined', firstTickAtMs: ctx.nowMs + check.interval * 1_000 });
    moveNextTick(ctx, key, scheduleContext(ctx, key)?.nextTickAtMs);
  }
}
