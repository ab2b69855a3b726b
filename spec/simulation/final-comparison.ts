import { type LedgerEntry } from '../../src/store/ledger/ledger.ts';
import { verify } from '../../src/store/ledger/ledger-verification.ts';
import type { RecordedLog } from '../support/recorded-log.ts';
import type { Differences } from './differences.ts';

/** Checks that the hash chain of the ledger is intact, and that each transition of a silence starts from its last state. */
export function compareLedger(ledger: readonly LedgerEntry[], differences: Differences): void {
  const result = verify(ledger.map((entry, index) => ({ seq: index + 1, entry })));
  if (!result.ok) differences.add(`ledger broken at ${result.seq}: ${result.reason}`);
  const states = new Map<string, string | null>();
  for (const { actor, key, from, event, to } of ledger) {
    if (actor !== 'silence') continue;
    differences.compare(`silence ${key}: state before ${event}`, states.get(key) ?? null, from);
    states.set(key, to);
  }
}

/** Checks that the log has an error for each failure of the store, and no others but those of deleted handlers. */
export function compareErrors(errors: RecordedLog['errors'], losses: number, differences: Differences): void {
  const failures = errors.filter(({ msg }) => msg === 'store cannot be written');
  const others = errors
    .filter((line) => !failures.includes(line) && line.fields['outcome'] !== 'skipped')
    .map(({ msg, fields }) => `${msg}: ${String(fields['err'])}`);
  differences.compare('store failures in the log', losses, failures.length);
  differences.compare('other errors in the log', [], others);
}
