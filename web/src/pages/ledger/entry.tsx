import { get, MON } from '../../api/client.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Failure, Loading } from '../../components/states.tsx';
import { exactTime } from '../../components/time.tsx';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';
import { Fact } from '../home/backend-card.tsx';
import { causeText, type LedgerPage } from './ledger-entry.ts';
import { errorIn } from './verify.ts';

/** One entry of the ledger: what changed, why, what was decided on, and its place in the chain. */
export function EntryPage({ params: { seq = '' } }: PageProps) {
  const number = Number(seq);
  const { state, reload } = useLoaded(`entry ${seq}`, async (signal) => {
    const query = { limit: 2, continue: Math.max(0, number - 2) };
    const { entries } = await get<LedgerPage>(`${MON}/ledger`, { query, signal });
    return { entry: entries.find((one) => one.seq === number), before: entries.find((one) => one.seq === number - 1) };
  });
  const { data, error } = state.value;
  if (error !== undefined) return <Failure title={`Entry ${seq}`} message={error} retry={reload} />;
  if (data === undefined) return <Loading what="Reading the entry" />;
  const { entry, before } = data;
  if (entry === undefined) return <Failure title={`Entry ${seq}`} message="The ledger does not have this entry." />;
  const reason = errorIn(entry, before);
  return (
    <div class="stack">
      <div class="page-head">
        <h1>Entry {entry.seq}</h1>
        <p>{exactTime(entry.atMs / 1_000)}</p>
        <div class="actions">
          {entry.seq > 1 && (
            <a class="button" href={paths.entry(entry.seq - 1)}>
              Previous
            </a>
          )}
          <a class="button" href={paths.entry(entry.seq + 1)}>
            Next
          </a>
          <CopyButton text={JSON.stringify(entry, undefined, 2)} label="Copy JSON" />
        </div>
      </div>
      <div class="columns">
        <section class="card" aria-labelledby="transition">
          <header>
            <h2 id="transition">Transition</h2>
          </header>
          <dl class="facts">
            <Fact name="Kind">
              <a href={paths.ledger({ actor: entry.actor })}>{entry.actor}</a>
            </Fact>
            <Fact name="Key">
              <a href={paths.actor(entry.actor, entry.key)}>{entry.key}</a>
            </Fact>
            <Fact name="Event">
              <code>{entry.event}</code>
            </Fact>
            <Fact name="From">{entry.from ?? 'did not exist'}</Fact>
            <Fact name="To">{entry.to ?? 'does not exist'}</Fact>
            <Fact name="Cause">{causeText(entry.cause)}</Fact>
          </dl>
          <pre class="output">{JSON.stringify(entry.cause, undefined, 2)}</pre>
        </section>
        <section class="card" aria-labelledby="guards">
          <header>
            <h2 id="guards">Guards</h2>
          </header>
          {entry.guards.length === 0 && <p class="muted">The transition has no condition.</p>}
          {entry.guards.map(({ name, passed, inputs }) => (
            <div key={name}>
              <h3>
                {name} <span class={passed ? 'tone-ok' : 'tone-warning'}>{passed ? 'passed' : 'did not pass'}</span>
              </h3>
              <pre class="output">{JSON.stringify(inputs, undefined, 2)}</pre>
            </div>
          ))}
        </section>
        {entry.details !== undefined && (
          <section class="card" aria-labelledby="details">
            <header>
              <h2 id="details">Details</h2>
            </header>
            <pre class="output">{JSON.stringify(entry.details, undefined, 2)}</pre>
          </section>
        )}
        <section class="card" aria-labelledby="hash">
          <header>
            <h2 id="hash">Hash</h2>
            <span class={reason === undefined ? 'tone-ok' : 'tone-critical'}>
              {reason ?? 'verified by this browser'}
            </span>
          </header>
          <dl class="facts hashes">
            <Fact name="Entry">
              <code>{entry.hash}</code>
            </Fact>
            <Fact name="Previous">
              <code>{entry.prevHash}</code>
            </Fact>
          </dl>
        </section>
      </div>
    </div>
  );
}
