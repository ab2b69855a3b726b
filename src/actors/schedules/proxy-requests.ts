import type { SkippedTick } from '../../machines/check-schedule.ts';
import type { Check } from '../../resources/check.ts';
import { TokenError } from '../../formats/token-template.ts';
import { substituteTokens } from '../../formats/tokens.ts';
import { entityData } from '../../rules/entity-data.ts';
import type { FanOut, ProxyTarget } from '../../scheduler/proxy-runs.ts';
import type { ProxyRunRequested } from '../../store/decision.ts';
import { entityKey } from '../../store/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { type Rings, takeRingSlots } from './round-robin.ts';
import { announceRequest, checkOf, noMembers, sendToSchedule } from './schedules.ts';
import { spreadOf } from './schedule-timing.ts';
import type { DecisionContext } from '../core/decision-context.ts';

const keyOf = ({ namespace, check }: ProxyRunRequested): string => entityKey(namespace, check);

/** Plans the requests of a proxy run: the agent for each entity and the gap between requests. No targets when the check was deleted. */
export function planProxyRun(
  ctx: DecisionContext,
  rings: Rings,
  run: ProxyRunRequested,
  entities: readonly string[],
): FanOut {
  const check = checkOf(ctx.decision, keyOf(run));
  if (check === undefined) return { targets: [], gapMs: 0, waitsFirst: false };
  const gapMs = gapOf(check, entities.length, ctx.nowMs);
  if (run.adhoc || !check.round_robin) {
    return { targets: entities.map((entity) => ({ entity, agent: undefined })), gapMs, waitsFirst: true };
  }
  const targets = takeRingSlots(ctx, rings, check, entities.length).flatMap((agents) =>
    entities.map((entity, index) => ({ entity, agent: agents[index] })),
  );
  if (targets.length === 0) sendToSchedule(ctx, keyOf(run), noMembers(ctx));
  return { targets, gapMs, waitsFirst: false };
}

function gapOf(check: Check, count: number, nowMs: number): number {
  const { splay = false, splay_coverage: percent = 0 } = check.proxy_requests ?? {};
  return splay ? (spreadOf(check, nowMs) * percent) / 100 / count : 0;
}

/** Requests the check for one entity. Returns the error when its tokens could not be substituted. */
export function requestProxyCheck(
  ctx: DecisionContext,
  run: ProxyRunRequested,
  target: ProxyTarget,
): string | undefined {
  const check = checkOf(ctx.decision, keyOf(run));
  const entity = readResource(ctx.decision, 'entities', run.namespace, target.entity);
  if (check === undefined || entity === undefined) return undefined;
  const { agent } = target;
  const subscriptions = run.subscriptions ?? check.subscriptions;
  try {
    const filled = substituteTokens({ ...check, subscriptions }, entityData(entity));
    const config = { ...filled, metadata: check.metadata, proxy_entity_name: target.entity };
    announceRequest(ctx, config, agent === undefined ? filled.subscriptions : [`entity:${agent}`], run.adhoc);
    return undefined;
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const detail = `${target.entity}: ${error.message}`;
    const failed = { atMs: ctx.nowMs, reason: 'tokens not substituted', detail } as const;
    if (!run.adhoc) sendToSchedule(ctx, keyOf(run), { type: 'request.failed', ...failed });
    return error.message;
  }
}

/** Reports to the schedule why a proxy run of a tick was skipped. Ad hoc runs are not ticks and are not reported. */
export function explainProxyRun(
  ctx: DecisionContext,
  run: ProxyRunRequested,
  { reason, detail }: Pick<SkippedTick, 'reason' | 'detail'>,
): void {
  if (!run.adhoc) sendToSchedule(ctx, keyOf(run), { type: 'tick.skipped', atMs: run.atMs, reason, detail });
}
