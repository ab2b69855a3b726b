import { useState } from 'preact/hooks';
import { at, CORE, get, list, MON, request } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { Sentence } from '../event/sentence.tsx';
import { Outcome } from '../event/outcome.tsx';
import type { Explanation } from '../event/explanation.ts';
import { StatusMark } from '../../components/status.tsx';
import { LazyChart } from '../../machines/lazy-chart.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { notify } from '../../state/notices.ts';
import { useLoaded } from '../../state/resource.ts';

const ENTITY = 'example';
const CHECK = 'tour';

/** Raises an alert with a button and follows it to its notification. */
export function TourPage({ params: { namespace = '' } }: PageProps) {
  const [isBusy, setBusy] = useState(false);
  const key = `${namespace}/${ENTITY}/${CHECK}`;
  const path = at`/namespaces/${namespace}/events/${ENTITY}/${CHECK}`;
  const explained = useLoaded(
    `tour ${path}`,
    async (signal) => {
      const { items } = await list<{ status: number }>(`${MON}${at`/namespaces/${namespace}/event-summaries`}`, {
        signal,
        query: { event: `${ENTITY}/${CHECK}` },
      });
      const [row] = items;
      if (row === undefined) return undefined;
      return { status: row.status, explanation: await get<Explanation>(`${MON}${path}/explain`, { signal }) };
    },
    { when: (change) => change.key === key, everyMs: 2_000 },
  );
  const send = async (status: number, output: string): Promise<void> => {
    setBusy(true);
    try {
      const handlers = await list<{ metadata: { name: string } }>(`${CORE}${at`/namespaces/${namespace}/handlers`}`);
      const names = handlers.items.map(({ metadata: { name } }) => name);
      const now = Math.floor(Date.now() / 1_000);
      await request('PUT', `${CORE}${path}`, {
        body: {
          timestamp: now,
          entity: { entity_class: 'proxy', metadata: { name: ENTITY, namespace } },
          check: {
            metadata: { name: CHECK, namespace },
            interval: 60,
            executed: now,
            issued: now,
            status,
            output,
            handlers: names.includes('alerts') ? ['alerts'] : names.slice(0, 1),
          },
        },
      });
      explained.reload();
    } catch (error) {
      notify(messageOf(error), { tone: 'error' });
    }
    setBusy(false);
  };
  const { data } = explained.state.value;
  const runs = data?.explanation.handlers.items ?? [];
  return (
    <div class="stack tour">
      <div class="page-head">
        <h1>Tour</h1>
        <p>an alert from its result to its notification</p>
      </div>
      <ol class="tour-steps">
        <li class="card">
          <h2>Make it happen</h2>
          <p>
            A check named <code>{CHECK}</code> sends a result for the entity <code>{ENTITY}</code>, as any program may
            do with the API.
          </p>
          <p class="tour-buttons">
            <button
              type="button"
              class="button-primary"
              disabled={isBusy}
              onClick={() => void send(2, 'the example fails')}
            >
              Make it fail
            </button>
            <button type="button" disabled={isBusy} onClick={() => void send(0, 'the example is well again')}>
              Make it pass
            </button>
          </p>
        </li>
        <li class="card">
          <h2>Watch its state</h2>
          {data === undefined ? (
            <p class="muted">It has no state yet.</p>
          ) : (
            <>
              <p>
                <StatusMark status={data.status} /> · <a href={paths.event(namespace, ENTITY, CHECK)}>the event</a>
              </p>
              <LazyChart machine="check-state" actorKey={key} absent="It has no state yet." />
            </>
          )}
          <ol class="chain">
            {data?.explanation.sentences.slice(0, 4).map((sentence) => (
              <li key={sentence}>
                <Sentence text={sentence} />
              </li>
            ))}
          </ol>
        </li>
        <li class="card" data-notified={runs.length}>
          <h2>See who was notified</h2>
          {runs.length === 0 && <p class="muted">No handler has run yet.</p>}
          <ul class="plain-list">
            {runs.slice(0, 4).map(({ notification: { id, handler, outcome, reason } }) => (
              <li key={id}>
                <Outcome outcome={outcome} />
                <strong>{handler}</strong>
                <span class="muted outcome-reason">{reason}</span>
              </li>
            ))}
          </ul>
        </li>
        <li class="card">
          <h2>Prove it</h2>
          <p>
            <a href={paths.ledger({ key })}>The ledger</a> has each of these changes with its cause. This browser can
            verify that none was altered.
          </p>
        </li>
      </ol>
    </div>
  );
}
