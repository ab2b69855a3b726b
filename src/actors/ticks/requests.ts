import { eventKey } from '../../store/encoding/keyspace.ts';
import type { CheckRequested } from '../../store/commit/decision.ts';
import type { RequestReceipt } from '../core/expected-results.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The least time that a result may take, beyond the interval and the timeout of its check, ms. */
const GRACE_MS = 60_000;

/** Expects the results of a request: one of each agent, or one of the entity that they run the check for. */
export function expectResults(
  ctx: DecisionContext,
  { namespace, request, tickAtMs }: CheckRequested,
  receipts: readonly RequestReceipt[],
): void {
  const { metadata, interval, timeout, proxy_entity_name: proxy } = request.config;
  const overdueAtMs = ctx.steadyMs + (interval + timeout) * 1_000 + GRACE_MS;
  const byEntity = new Map<string, RequestReceipt[]>();
  for (const receipt of receipts) {
    const entity = proxy === '' ? receipt.agentName : proxy;
    const ofEntity = byEntity.get(entity);
    if (ofEntity === undefined) byEntity.set(entity, [receipt]);
    else ofEntity.push(receipt);
  }
  for (const [entity, ofEntity] of byEntity) {
    const key = eventKey(namespace, entity, metadata.name ?? '');
    ctx.ticks.expected.expect({ key, tickAtMs, issuedS: request.issued, receipts: ofEntity }, overdueAtMs);
  }
}
