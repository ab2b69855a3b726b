import type { SkippedTick, SkipReason } from '../../machines/check-schedule.ts';
import { TokenError, TokensTooLong } from '../../formats/tokens.ts';
import type { Check } from '../../resources/check.ts';
import type { EntityConfig } from '../../resources/entity.ts';
import { entityData } from '../../resources/entity-data.ts';
import { orAbsent } from '../../resources/schema.ts';
import type { FanOut, ProxyTarget } from '../../scheduler/proxy-runs.ts';
import type { ProxyRunRequested } from '../../store/commit/decision.ts';
import { entityKey, eventKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { CheckTemplates } from './check-templates.ts';
import { RequestTooLong } from './request-too-long.ts';
import { SecretsNotResolved } from './secrets-not-resolved.ts';
import { countRings, type Rings, takeRingSlots } from './round-robin.ts';
import { announceRequest, checkOf, noMembers, scheduleContext, sendToSchedule } from './schedules.ts';
import { recordTick, tickOf } from '../ticks/check-ticks.ts';
import { recordEntityTick } from '../ticks/entity-ticks.ts';
import { spreadOf } from '../ticks/schedule-timing.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The maximum number of requests of a run with several rings, each of which has a request for each entity. */
const MAX_RING_REQUESTS = 100_000;

const keyOf = ({ namespace, check }: ProxyRunRequested): string => entityKey(namespace, check);

/**
 * Plans the requests of a proxy run: the agent for each entity and the gap between requests. No targets when the check was deleted,
 * or when there would be too many.
 */
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
    planned(ctx, run);
    return { targets: entities.map((entity) => ({ entity, agent: undefined })), gapMs, waitsFirst: true };
  }
  const rounds = countRings(rings, check);
  if (rounds > 1 && rounds * entities.length > MAX_RING_REQUESTS) {
    const detail = `${rounds} rings and ${entities.length} entities need more than ${MAX_RING_REQUESTS} requests`;
    explainProxyRun(ctx, run, { reason: 'too long', detail });
    return { targets: [], gapMs, waitsFirst: false };
  }
  const targets = takeRingSlots(ctx, rings, check, entities.length).flatMap((agents) =>
    entities.map((entity, index) => ({ entity, agent: agents[index] })),
  );
  if (targets.length === 0) sendToSchedule(ctx, keyOf(run), noMembers(ctx));
  else planned(ctx, run);
  return { targets, gapMs, waitsFirst: false };
}

/** The tick asks for entities; the first request that reaches an agent, or none that does, decides its outcome. */
function planned(ctx: DecisionContext, run: ProxyRunRequested): void {
  if (run.adhoc || !('deadlineAtMs' in run.cause)) return;
  const key = keyOf(run);
  recordTick(ctx, key, { outcome: 'ran' }, scheduleContext(ctx, key)?.nextTickAtMs);
}

function gapOf(check: Check, count: number, nowMs: number): number {
  const { splay = false, splay_coverage: percent = 0 } = check.proxy_requests ?? {};
  return splay ? (spreadOf(check, nowMs) * percent) / 100 / count : 0;
}

/** The outcome of a request for one entity. */
export interface ProxyRequest {
  /** Why its tokens could not be substituted, or it is too long; undefined when the request was made. */
  error: string | undefined;
  /** The size of its filled texts, assets and hooks. */
  bytes: number;
}

/** Requests the check for one entity, unless the check or the entity was deleted, or its tokens cannot be substituted. */
export function requestProxyCheck(
  ctx: DecisionContext,
  templates: CheckTemplates,
  run: ProxyRunRequested,
  target: ProxyTarget,
): ProxyRequest {
  const check = checkOf(ctx.decision, keyOf(run));
  const entity = readResource(ctx.decision, 'entities', run.namespace, target.entity);
  if (check === undefined || entity === undefined) return { error: undefined, bytes: 0 };
  try {
    const { config, bytes } = filledCheck(templates, check, entity, run);
    const topics = target.agent === undefined ? config.subscriptions : [`entity:${target.agent}`];
    const needed = announceRequest(ctx, config, topics, { adhoc: run.adhoc, isFilled: true });
    return { error: undefined, bytes: bytes + needed };
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined || !(error instanceof Error)) throw error;
    const failed = { atMs: ctx.nowMs, reason, detail: `${target.entity}: ${error.message}` } as const;
    if (!run.adhoc) failTick(ctx, run, target, failed);
    return { error: error.message, bytes: 0 };
  }
}

/** Returns why a request for one entity could not be made; undefined for an error of the program. */
function reasonOf(error: unknown): SkipReason | undefined {
  if (error instanceof TokensTooLong || error instanceof RequestTooLong) return 'too long';
  if (error instanceof SecretsNotResolved) return 'secrets not resolved';
  return error instanceof TokenError ? 'tokens not substituted' : undefined;
}

function failTick(ctx: DecisionContext, run: ProxyRunRequested, { entity }: ProxyTarget, failed: SkippedTick): void {
  const { reason, detail } = failed;
  const result = { outcome: 'skipped', reason, detail } as const;
  sendToSchedule(ctx, keyOf(run), { type: 'request.failed', ...failed });
  recordTick(ctx, keyOf(run), result, scheduleContext(ctx, keyOf(run))?.nextTickAtMs);
  const tickAtMs = tickOf(ctx);
  if (tickAtMs !== undefined) recordEntityTick(ctx, eventKey(run.namespace, entity, run.check), tickAtMs, result);
}

/** Fills the tokens of a check for an entity. Source: spec/04 1.11. @throws TokenError */
function filledCheck(templates: CheckTemplates, check: Check, entity: EntityConfig, run: ProxyRunRequested) {
  const data = entityData(entity);
  const filled = templates.of(check).fill(data);
  const chosen = run.subscriptions && templates.of(run.subscriptions, 'subscriptions').fill(data);
  const config = {
    ...filled.value,
    command: orAbsent(filled.value.command),
    subscriptions: chosen?.value ?? filled.value.subscriptions,
    proxy_entity_name: entity.metadata.name ?? '',
  };
  return { config, bytes: filled.bytes + (chosen?.bytes ?? 0) };
}

/** Reports to the schedule why a proxy run of a tick was skipped. Ad hoc runs are not ticks and are not reported. */
export function explainProxyRun(
  ctx: DecisionContext,
  run: ProxyRunRequested,
  { reason, detail }: Pick<SkippedTick, 'reason' | 'detail'>,
): void {
  if (!run.adhoc) sendToSchedule(ctx, keyOf(run), { type: 'tick.skipped', atMs: run.atMs, reason, detail });
}
