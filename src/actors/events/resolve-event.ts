import { randomUUID } from 'node:crypto';
import { NotFound } from '../../resources/errors.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { annotationOf } from '../../rules/earlier-attributes.ts';
import { isOpen } from '../../rules/incident.ts';
import { type EventAddress, eventKey } from '../../store/encoding/keyspace.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { mergeEvent } from './merge-event.ts';

/** The output of a resolution that a user requests. Clients of the first generation search for it. */
const OUTPUT = 'Resolving on request of the API';
const FORCE_RESOLVE = annotationOf('force_resolve');

/**
 * Resolves the open event of an entity and check: merges a passing result, which handlers receive, and disarms the check TTL. The
 * check is passing afterwards even if it flaps. @throws NotFound when the event is not open
 */
export function resolveEvent(ctx: DecisionContext, { namespace, entity, check }: EventAddress): void {
  const record = ctx.get('events', eventKey(namespace, entity, check));
  if (record === undefined || !isOpen(record.event.check.status, record.state.state)) throw new NotFound('not found');
  mergeEvent(ctx, resolutionOf(record.event, ctx.nowS), {
    trustsSentHistory: false,
    isForcedResolution: true,
    cause: ctx.cause,
  });
}

function resolutionOf(stored: CheckEvent, nowS: number): CheckEvent {
  const { check } = stored;
  const annotations = { ...check.metadata.annotations, [FORCE_RESOLVE]: 'true' };
  return {
    ...stored,
    id: randomUUID(),
    timestamp: nowS,
    check: {
      ...check,
      metadata: { ...check.metadata, annotations },
      status: 0,
      output: OUTPUT,
      issued: nowS,
      executed: nowS,
      ttl: 0,
      duration: undefined,
      hooks: undefined,
      processed_by: undefined,
    },
  };
}
