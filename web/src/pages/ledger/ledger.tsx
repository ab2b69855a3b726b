import { useState } from 'preact/hooks';
import { MON, request } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { exactTime } from '../../components/time.tsx';
import { query } from '../../routing/location.ts';
import { paths } from '../../routing/paths.ts';
import { notify } from '../../state/notices.ts';
import { useLoaded } from '../../state/resource.ts';
import { exportLines } from './export.ts';
import { causeText, type LedgerEntry } from './ledger-entry.ts';
import { LedgerFilter, PARAMETERS } from './ledger-filter.tsx';
import { VerifyCard } from './verify-card.tsx';

const LIMIT = 100;

interface Page {
  entries: LedgerEntry[];
  next: string | undefined;
}

/** Every state transition on record. Without a filter the latest are shown. */
export function LedgerPage() {
  const filter = Object.fromEntries([...query.value].filter(([name]) => PARAMETERS.some((one) => one.name === name)));
  const after = query.value.get('continue') ?? undefined;
  const [isBusy, setBusy] = useState(false);
  const loader = useLoaded(`ledger ${query.value.toString()}`, (signal) => readPage(filter, after, signal));
  const { data, error } = loader.state.value;
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      notify(`Saved ${(await exportLines(filter)).toLocaleString()} entries`);
    } catch (problem) {
      notify(messageOf(problem), { tone: 'error' });
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      <div class="page-head">
        <h1>Ledger</h1>
        <p>every change of state, with its cause</p>
        <div class="actions">
          <button type="button" disabled={isBusy} onClick={() => void save()}>
            {isBusy ? 'Reading …' : 'Export as JSON lines'}
          </button>
        </div>
      </div>
      <LedgerFilter />
      {error !== undefined && data === undefined ? (
        <Failure title="The ledger could not be read" message={error} retry={loader.reload} />
      ) : data === undefined ? (
        <Loading what="Reading the ledger" />
      ) : data.entries.length === 0 ? (
        <Empty title="No entry matches on this page" />
      ) : (
        <Entries entries={data.entries} />
      )}
      {data?.next !== undefined && (
        <p>
          <a href={paths.ledger({ ...filter, continue: data.next })}>Later entries</a>
        </p>
      )}
      <VerifyCard />
    </div>
  );
}

/** A page from the beginning; without a filter, the one that ends with the last entry. */
async function readPage(filter: Record<string, string>, after: string | undefined, signal: AbortSignal): Promise<Page> {
  const start = after ?? (Object.keys(filter).length === 0 ? await beforeLast(signal) : undefined);
  const options = { query: { ...filter, limit: LIMIT, continue: start }, signal };
  const response = await request('GET', `${MON}/ledger`, options);
  const { entries } = (await response.json()) as { entries: LedgerEntry[] };
  return { entries, next: response.headers.get('Sensu-Continue') ?? undefined };
}

async function beforeLast(signal: AbortSignal): Promise<string> {
  const response = await request('GET', `${MON}/backend`, { signal });
  const { ledger_seq: head } = (await response.json()) as { ledger_seq: number };
  return String(Math.max(0, head - LIMIT));
}

function Entries({ entries }: { entries: readonly LedgerEntry[] }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Entries">
      <table class="ledger">
        <thead>
          <tr>
            <th scope="col">Entry</th>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Event</th>
            <th scope="col">From → to</th>
            <th scope="col">Cause</th>
          </tr>
        </thead>
        <tbody>
          {entries.toReversed().map(({ seq, atMs, actor, key, event, from, to, cause }) => (
            <tr key={seq} data-seq={seq}>
              <td>
                <a href={paths.entry(seq)}>{seq}</a>
              </td>
              <td class="nowrap">{exactTime(atMs / 1_000)}</td>
              <td>
                <a href={paths.ledger({ actor, key })}>{key}</a> <span class="muted">{actor}</span>
              </td>
              <td>
                <code>{event}</code>
              </td>
              <td>
                {from ?? '–'} → {to ?? '–'}
              </td>
              <td class="muted">{causeText(cause)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
