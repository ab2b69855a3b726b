import { at, CORE, listAll, write } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { username } from '../../api/session.ts';
import { Labels } from '../../components/chips.tsx';
import { type Column, Listing } from '../../components/listing.tsx';
import type { PageProps } from '../../routing/page.ts';
import { withLabel } from '../../routing/label-query.ts';
import { paths } from '../../routing/paths.ts';
import { notify } from '../../state/notices.ts';
import { useLoaded } from '../../state/resource.ts';
import { type CheckConfig, scheduleOf } from './check-config.ts';

/** Runs a check now on its subscriptions, or on others. */
export async function execute(namespace: string, check: string, subscriptions?: readonly string[]): Promise<void> {
  try {
    await write('POST', `${CORE}${at`/namespaces/${namespace}/checks/${check}/execute`}`, {
      check,
      creator: username(),
      reason: 'run from the dashboard',
      ...(subscriptions === undefined ? {} : { subscriptions }),
    });
    notify(`Requested a run of ${check}`);
  } catch (error) {
    notify(messageOf(error), { tone: 'error' });
  }
}

export function ChecksPage({ params: { namespace = '' } }: PageProps) {
  const path = `${CORE}${at`/namespaces/${namespace}/checks`}`;
  const loader = useLoaded(`checks ${namespace}`, (signal) => listAll<CheckConfig>(path, { signal }), {
    when: ({ kind }) => kind === 'checks',
  });
  const columns: readonly Column<CheckConfig>[] = [
    {
      head: 'Check',
      cell: ({ metadata: { name, labels } }) => (
        <>
          <a href={paths.check(namespace, name)} title={name}>
            {name}
          </a>
          <Labels labels={labels ?? {}} hrefOf={withLabel} />
        </>
      ),
      sort: ({ metadata: { name } }) => name,
      width: '18%',
    },
    { head: 'Runs', cell: scheduleOf, sort: ({ interval }) => interval, width: '20%' },
    {
      head: 'On',
      cell: ({ subscriptions }) => (subscriptions ?? []).join(', ') || <span class="muted">no subscription</span>,
      sort: ({ subscriptions }) => (subscriptions ?? []).join(' '),
    },
    {
      head: 'Handlers',
      cell: ({ handlers }) => (handlers ?? []).join(', ') || <span class="muted">none</span>,
      sort: ({ handlers }) => (handlers ?? []).join(' '),
    },
    { head: 'Command', cell: ({ command }) => <code class="muted">{command}</code>, width: '26%' },
    {
      head: 'Action',
      cell: ({ metadata: { name } }) => (
        <button type="button" aria-label={`Run ${name} now`} onClick={() => void execute(namespace, name)}>
          Run
        </button>
      ),
      width: '5rem',
    },
  ];
  return (
    <Listing
      title="Checks"
      noun="checks"
      loader={loader}
      columns={columns}
      keyOf={({ metadata: { name } }) => name}
      pathOf={({ metadata: { name } }) => `${path}/${encodeURIComponent(name)}`}
      hrefOf={({ metadata: { name } }) => paths.check(namespace, name)}
      labelsOf={({ metadata: { labels } }) => labels ?? {}}
      keys={{ e: ({ metadata: { name } }) => void execute(namespace, name) }}
      textOf={({ metadata: { name }, command, subscriptions, handlers }) =>
        `${name} ${command} ${(subscriptions ?? []).join(' ')} ${(handlers ?? []).join(' ')}`
      }
      actions={
        <a class="button" href={paths.resource(namespace, 'checks', 'new')}>
          New check
        </a>
      }
    />
  );
}
