import { outboxKey } from '../../store/encoding/keyspace.ts';
import type { OutboxEntry } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

const OUTBOX_SEQ_KEY = 'outbox-seq';

/** Adds an entry to the end of the outbox. `bytes` is the size of its event. */
export function addToOutbox(ctx: DecisionContext, entry: OutboxEntry, bytes: number): void {
  const seq = ((ctx.get('meta', OUTBOX_SEQ_KEY) as number | undefined) ?? 0) + 1;
  const { key, namespace, handler } = entry;
  ctx.put('meta', OUTBOX_SEQ_KEY, seq);
  ctx.put('outbox', outboxKey(seq), entry);
  ctx.announce({ type: 'outbox.filled', outboxKey: outboxKey(seq), key, namespace, handler, bytes });
}
