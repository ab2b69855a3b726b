import { StatusShape, statusName, toneOf } from '../../components/status.tsx';
import { exactTime } from '../../components/time.tsx';
import { withQuery } from '../../routing/location.ts';
import { paths } from '../../routing/paths.ts';
import type { Explanation } from './explanation.ts';

/** The changes on record, newest first. */
export function Changes({ explanation }: { explanation: Explanation }) {
  const { items, more } = explanation.changes;
  return (
    <section class="card" aria-labelledby="changes">
      <header>
        <h2 id="changes">Changes</h2>
      </header>
      <ol class="changes">
        {items.map(({ seq, at, event, status, previous_status: before, output, silenced }) => (
          <li key={seq}>
            <StatusShape tone={toneOf(status ?? 3)} />
            <div>
              <strong>{status === null ? event : statusName(status)}</strong>
              {before !== null && before !== status && <span class="muted"> after {statusName(before)}</span>}
              {silenced.length > 0 && <span class="muted"> · silenced</span>}
              <span class="changes-output">{output}</span>
              <span class="muted">
                <a href={withQuery({ at: String(Math.ceil(at)) })}>{exactTime(at)}</a> ·{' '}
                <a href={paths.entry(seq)}>ledger entry {seq}</a>
              </span>
            </div>
          </li>
        ))}
      </ol>
      {more && <p class="muted">Older changes are in the ledger.</p>}
    </section>
  );
}
