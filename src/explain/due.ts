import type { CheckTtlContext } from '../machines/check-ttl.ts';
import type { EntityContext } from '../machines/entity.ts';
import { entityKey, type EventAddress, eventKey } from '../store/encoding/keyspace.ts';
import type { TableReader } from '../store/records/table-reader.ts';
import type { Due } from './explanation.ts';

const KEEPALIVE = 'keepalive';

/** The deadline by which something must be received, from the stored snapshot; undefined when none is armed. */
export function dueOf(reader: TableReader, { namespace, entity, check }: EventAddress): Due | undefined {
  if (check === KEEPALIVE) return keepaliveDue(reader, entityKey(namespace, entity));
  const ttl = reader.get('events', eventKey(namespace, entity, check))?.ttl;
  if (ttl === undefined) return undefined;
  const { lastReceivedAtMs, ttlMs } = ttl.context as CheckTtlContext;
  return { what: 'result', sinceMs: lastReceivedAtMs, limitMs: ttlMs };
}

function keepaliveDue(reader: TableReader, key: string): Due | undefined {
  const context = reader.get('entities', key)?.actor.context as EntityContext | undefined;
  if (context?.tickMs === undefined) return undefined;
  const { warningMs, criticalMs, lastReceivedAtMs } = context;
  return { what: 'keepalive', sinceMs: lastReceivedAtMs, limitMs: warningMs > 0 ? warningMs : criticalMs };
}
