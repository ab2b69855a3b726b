import { SET_ASIDE_KEY, type SetAside } from '../../store/maintenance/set-aside.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { restoreIncident } from '../events/incidents.ts';
import { mergeOwnEvent } from './own-event.ts';

/** The reserved check of the backend's own entity that says that records of the store were damaged. */
export const DAMAGED_RECORDS_CHECK = 'damaged-records';
/** Records that the output of the event names. The ledger lists all of them, including those of earlier starts. */
const MAX_NAMED = 20;

/**
 * Reports the records that were set aside before the store was opened: an entry of the ledger for each, and a critical event. Incidents
 * of open events are restored. The keys of tick histories have a `#`, which keys of the ledger cannot have.
 */
export function reportSetAside(ctx: DecisionContext, backendName: string): void {
  const stored = ctx.get('meta', SET_ASIDE_KEY) as readonly SetAside[] | undefined;
  if (stored === undefined) return;
  const records = stored.map((record): SetAside => {
    const isRestored = record.table === 'incidents' && restoreIncident(ctx, record.key);
    return isRestored ? { ...record, now: 'restored' } : record;
  });
  for (const { table, key, file, bytes, now } of records) {
    const details = { file, bytes, now };
    const place = `${table}/${key.replaceAll('#', '/')}`;
    ctx.record({ actor: 'store', key: place, from: 'stored', event: 'record.damaged', to: 'quarantined', details });
  }
  const lines = records.slice(0, MAX_NAMED).map(({ table, key, file, now }) => `${table} ${key} (${now}): ${file}`);
  const more = records.length - lines.length;
  const output = [
    'damaged records of the store were set aside:',
    ...lines,
    ...(more > 0 ? [`and ${more} more`] : []),
    'the ledger lists all of them, including earlier ones (actor store, event record.damaged)',
  ];
  ctx.delete('meta', SET_ASIDE_KEY);
  mergeOwnEvent(ctx, backendName, { check: DAMAGED_RECORDS_CHECK, status: 2, output: output.join('\n') });
}
