import { stateName } from '../../src/machines/actor-snapshot.ts';
import type { SilenceRecord } from '../../src/resources/silenced.ts';
import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import { type EntityRecord, eventOf, type EventRecord, type OutboxEntry } from '../../src/store/records/records.ts';
import type { Differences } from './differences.ts';
import type { ExpectedEntity, ExpectedEvent } from './oracle/expectation.ts';
import { ANY, type ExpectedSilence } from './oracle/silences.ts';

/** Actors of which the oracle predicts every transition. */
const PREDICTED_ACTORS = new Set([
  'entity',
  'check-ttl',
  'check-state',
  'entities',
  'checks',
  'handlers',
  'silenced',
  'silence',
]);
const NAMESPACE = 'default/';
const BLIND_ANNOTATION = 'mon.io/blind-seconds';

/** Compares a stored event with the expected one. */
export function compareEvent(
  key: string,
  expected: ExpectedEvent | undefined,
  record: EventRecord | undefined,
  differences: Differences,
): void {
  if (expected === undefined || record === undefined) {
    differences.compare(`event ${key} is stored`, expected !== undefined, record !== undefined);
    return;
  }
  const { check, metadata } = eventOf(record);
  differences.compare(
    `event ${key}`,
    {
      status: expected.status,
      executed: expected.executed,
      output: expected.output,
      occurrences: expected.occurrences,
      watermark: expected.watermark,
      state: expected.state,
      lastOk: expected.lastOk,
      totalStateChange: expected.totalStateChange,
      history: expected.history,
      armed: expected.armed?.state,
      silenced: expected.silenced,
      isSilenced: expected.silenced.length > 0,
    },
    {
      status: check.status,
      executed: check.executed,
      output: check.output,
      occurrences: check.occurrences,
      watermark: check.occurrences_watermark,
      state: check.state,
      lastOk: check.last_ok,
      totalStateChange: check.total_state_change,
      history: check.history,
      armed: record.ttl && stateName(record.ttl.value),
      silenced: (check.silenced ?? []).toSorted(),
      isSilenced: check.is_silenced,
    },
  );
  compareBlindTime(key, expected.blindS, metadata.annotations?.[BLIND_ANNOTATION], differences);
}

function compareBlindTime(
  key: string,
  expected: ExpectedEvent['blindS'],
  stored: string | undefined,
  differences: Differences,
): void {
  const [least, most] = expected ?? [undefined, undefined];
  const isRight =
    stored === undefined ? least === undefined : Number(stored) >= (least ?? Infinity) && Number(stored) <= (most ?? 0);
  if (!isRight) differences.add(`event ${key}: blind time of ${stored} s, expected ${least} to ${most} s`);
}

export function compareEntity(
  key: string,
  expected: ExpectedEntity | undefined,
  record: EntityRecord | undefined,
  differences: Differences,
): void {
  differences.compare(`entity ${key}`, expected?.state, record && stateName(record.actor.value));
}

export function compareSilence(
  name: string,
  expected: ExpectedSilence | undefined,
  record: SilenceRecord | undefined,
  differences: Differences,
): void {
  const stored = record && {
    subscription: record.subscription ?? ANY,
    check: record.check ?? ANY,
    endsOnResolve: record.expire_on_resolve,
    beginS: record.begin,
    expireAtS: record.expire_at,
    state: record.state,
  };
  differences.compare(`silence ${name}`, inOrder(expected), inOrder(stored));
}

const inOrder = (silence: ExpectedSilence | undefined): unknown =>
  silence && Object.entries(silence).sort(([a], [b]) => (a < b ? -1 : 1));

/** Whether the event explains a tick of a check. `spec/actors/ticks/ticks-model.spec.ts` predicts these. */
const isOfTick = (event: string): boolean => event === 'tick.skipped' || event === 'ticks.resumed';

/** Compares the transitions of each actor and key, in order. Transitions of different keys in one decision have no order. */
export function compareTransitions(
  expected: readonly string[],
  ledger: readonly LedgerEntry[],
  differences: Differences,
): void {
  const recorded = ledger
    .filter(({ actor, key, event }) => PREDICTED_ACTORS.has(actor) && key.startsWith(NAMESPACE) && !isOfTick(event))
    .map(({ actor, key, from, event, to, atMs }) => {
      return `${actor} ${key}: ${actor === 'silence' ? event : from} -> ${to} at ${atMs}`;
    });
  differences.compare('ledger transitions', byKey(expected), byKey(recorded));
}

/** Compares the new outbox entries of each key; the order of decisions is the order of entries. */
export function comparePublications(
  expected: readonly string[],
  outbox: ReadonlyMap<string, OutboxEntry | null>,
  differences: Differences,
): void {
  const added = [...outbox]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, entry]) => (entry === null ? [] : [textOf(entry)]));
  differences.compare('new outbox entries', byKey(expected), byKey(added));
}

const textOf = ({ key, handler, event: { check } }: OutboxEntry): string =>
  `${key}: ${handler} of status ${check?.status}, occurrences ${check?.occurrences}, silenced by ${(check?.silenced ?? []).toSorted().join(' ')}`;

/** Sorts texts by their part before the first `: `, which names the key. Texts of one key keep their order. */
function byKey(texts: readonly string[]): string[] {
  const keyOf = (text: string): string => text.slice(0, text.indexOf(': '));
  return texts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}
