import { type Decider, internal } from '../core/decider.ts';
import { mergeOwnEvent } from './own-event.ts';

/** The reserved check of the backend's own entity that says that an entry of the outbox was damaged. */
export const DAMAGED_OUTBOX_CHECK = 'damaged-outbox';

/** An entry of the outbox that cannot be read. */
export interface DamagedEntry {
  outboxKey: string;
  /** How it is damaged. */
  error: string;
  /** The file with its bytes. */
  file: string;
  bytes: number;
}

/**
 * Removes an entry from the outbox that cannot be handled because it is damaged. The ledger and a critical event of the backend's
 * own entity say so. Resolves when that is durable. @throws StoreUnavailable
 */
export async function removeDamagedEntry(
  decider: Pick<Decider, 'decide'>,
  backendName: string,
  { outboxKey, error, file, bytes }: DamagedEntry,
): Promise<void> {
  await decider.decide(internal('outbox.read'), (ctx) => {
    ctx.delete('outbox', outboxKey);
    ctx.delete('attempts', outboxKey);
    const details = { error, file, bytes };
    ctx.record({
      actor: 'outbox',
      key: outboxKey,
      from: 'waiting',
      event: 'entry.damaged',
      to: 'quarantined',
      details,
    });
    mergeOwnEvent(ctx, backendName, {
      check: DAMAGED_OUTBOX_CHECK,
      status: 2,
      output: `the entry ${outboxKey} of the outbox is damaged and was not handled; its bytes are in ${file}`,
    });
  }).durable;
}
