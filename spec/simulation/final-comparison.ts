import { type LedgerEntry, verify } from '../../src/store/ledger.ts';
import type { RecordedLog } from '../support/recorded-log.ts';
import type { Differences } from './differences.ts';

/** The chain of the ledger is whole, and each silence comes from where it has come to. */
export function compareLedger(ledger: readonly LedgerEntry[], differences: Differences): void {
  const verdict = verify(ledger.map((entry, index) => ({ seq: index + 1, entry })));
  if (!verdict.ok) differences.add(`ledger broken at ${verdict.seq}: ${verdict.reason}`);
  const states = new Map<string, string | null>();
  for (const { actor, key, from, event, to } of ledger) {
    if (actor !== 'silence') continue;
    differences.compare(`where ${key} comes from by ${event}`, states.get(key) ?? null, from);
    states.set(key, to);
  }
}

/** A store that fails, and a handler that was deleted, are errors that somebody must see; there must be no other. */
export function compareErrors(errors: RecordedLog['errors'], losses: number, differences: Differences): void {
  const failures = errors.filter(({ msg }) => msg === 'store cannot be written');
  const others = errors
    .filter((line) => !failures.includes(line) && line.fields['outcome'] !== 'skipped')
    .map(({ msg, fields }) => `${msg}: ${String(fields['err'])}`);
  differences.compare('times the store is said to have failed', losses, failures.length);
  differences.compare('errors in the log', [], others);
}
