import { at, list, MON } from '../../api/client.ts';
import { type Column, Listing } from '../../components/listing.tsx';
import { Ago, duration } from '../../components/time.tsx';
import { query, setQuery } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';
import type { Notification } from '../event/explanation.ts';
import { replay } from '../event/handled.tsx';
import { Outcome } from '../event/outcome.tsx';

const LIMIT = 500;
const OUTCOMES = ['handled', 'failed', 'timed-out', 'denied', 'skipped', 'waiting'] as const;

/** The outcomes of the handlers, newest first; dead letters can be replayed. */
export function NotificationsPage({ params: { namespace = '' } }: PageProps) {
  const outcome = query.value.get('outcome') ?? '';
  const isDead = outcome === 'dead-letters';
  const handler = query.value.get('handler') ?? '';
  const loader = useLoaded(
    `notifications ${namespace} ${outcome} ${handler}`,
    async (signal) => {
      const filter = isDead ? { dead_letter: 'true' } : { outcome };
      const path = `${MON}${at`/namespaces/${namespace}/notifications`}`;
      return (await list<Notification>(path, { signal, query: { limit: LIMIT, handler, ...filter } })).items;
    },
    { when: ({ kind }) => kind === 'check-state', everyMs: 5_000 },
  );
  const columns: readonly Column<Notification>[] = [
    { head: 'Outcome', cell: (one) => <Outcome outcome={one.outcome} />, sort: (one) => one.outcome, width: '8rem' },
    {
      head: 'Event',
      cell: ({ entity, check }) => (
        <a href={paths.event(namespace, entity, check)}>
          {entity} {check}
        </a>
      ),
      sort: ({ entity, check }) => `${entity} ${check}`,
    },
    {
      head: 'Handler',
      cell: (one) => (
        <>
          {one.handler}
          {one.pipeline !== null && <span class="muted"> {one.pipeline}</span>}
        </>
      ),
      sort: (one) => one.handler,
      width: '11rem',
    },
    {
      head: 'Reason',
      cell: ({ reason, count, replayed_by: by }) => (
        <span class="muted" title={reason}>
          {reason}
          {count > 1 && ` (${count} events)`}
          {by !== null && ` · replayed by ${by}`}
        </span>
      ),
      width: '32%',
    },
    {
      head: 'When',
      cell: (one) => (
        <span title={`took ${duration(one.duration)}`}>
          <Ago at={one.at} />
        </span>
      ),
      sort: (one) => one.at,
      width: '8rem',
      isDescending: true,
    },
    {
      head: 'Action',
      cell: (one) =>
        one.dead_letter ? (
          <button type="button" onClick={() => void replay(namespace, one).then(loader.reload)}>
            Replay
          </button>
        ) : (
          ''
        ),
      width: '6rem',
    },
  ];
  return (
    <Listing
      title="Notifications"
      noun="notifications"
      loader={loader}
      columns={columns}
      keyOf={({ id, at: when }) => `${id} ${when}`}
      hrefOf={({ entity, check }) => paths.event(namespace, entity, check)}
      textOf={(one) => `${one.entity} ${one.check} ${one.handler} ${one.outcome} ${one.reason}`}
      intro={<>the latest {LIMIT}</>}
      controls={
        <label>
          <span>Outcome</span>
          <select value={outcome} onChange={({ currentTarget: { value } }) => setQuery({ outcome: value })}>
            <option value="">All</option>
            <option value="dead-letters">Dead letters</option>
            {OUTCOMES.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      }
    />
  );
}
