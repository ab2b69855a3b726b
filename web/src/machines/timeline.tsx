import { exactTime } from '../components/time.tsx';
import { clockTime } from './clock-time.ts';
import { paths } from '../routing/paths.ts';
import type { LedgerEntry } from './replay.ts';
import { StateName } from './state-name.tsx';

interface TimelineProps {
  /** Newest first. */
  entries: readonly LedgerEntry[];
  /** The number of the entry that is shown in the chart. */
  selected?: number | undefined;
  onSelect?: (entry: LedgerEntry) => void;
  selectText?: string;
  /** Whether the entries are of several actors. */
  withActor?: boolean;
}

/** Entries of the ledger below each other. */
export function Timeline({ entries, selected, onSelect, selectText = 'Show', withActor = false }: TimelineProps) {
  return (
    <ol class="timeline">
      {entries.map((entry) => (
        <li key={entry.seq} data-seq={entry.seq} aria-current={entry.seq === selected ? 'step' : undefined}>
          <div class="timeline-line">
            <time dateTime={new Date(entry.atMs).toISOString()} title={exactTime(entry.atMs / 1_000)}>
              {clockTime(entry.atMs)}
            </time>
            <span class="timeline-states">
              <StateName name={entry.from} />
              <span aria-label="to">→</span>
              <StateName name={entry.to} />
            </span>
            <code>{entry.event}</code>
            {withActor && (
              <span class="muted">
                {entry.actor} {entry.key}
              </span>
            )}
          </div>
          <div class="timeline-foot">
            <span class="muted">{causeOf(entry)}</span>
            <GuardList entry={entry} />
            {onSelect !== undefined && (
              <button type="button" class="button-plain" onClick={() => onSelect(entry)}>
                {selectText}
              </button>
            )}
            <a href={paths.entry(entry.seq)}>entry {entry.seq}</a>
          </div>
        </li>
      ))}
    </ol>
  );
}

function GuardList({ entry: { guards } }: { entry: LedgerEntry }) {
  if (guards.length === 0) return null;
  return (
    <details>
      <summary>
        {guards.length} {guards.length === 1 ? 'guard' : 'guards'}
      </summary>
      <ul class="guards">
        {guards.map(({ name, passed, inputs }, index) => (
          <li key={index}>
            <code>{name}</code> {passed ? 'passed' : 'did not pass'} <span class="muted">{JSON.stringify(inputs)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Why an entry was written, in words. */
function causeOf({ cause }: LedgerEntry): string {
  if ('user' in cause) return `by user ${String(cause['user'])}`;
  if ('deadlineAtMs' in cause) return `deadline of ${clockTime(Number(cause['deadlineAtMs']))}`;
  if ('eventId' in cause) return 'by a received event';
  if ('session' in cause) return `by session ${String(cause['session']).slice(0, 8)}`;
  if ('backend' in cause) return `by the backend: ${String(cause['backend'])}`;
  return 'at the start of the backend';
}
