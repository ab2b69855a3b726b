import { Empty, Failure, Loading } from '../../components/states.tsx';
import { StatusMark, StatusShape, toneOf } from '../../components/status.tsx';
import { Since } from '../../components/time.tsx';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { filterIn } from '../events/event-filter.ts';
import { type EventRow, notifiedText } from '../events/event-row.ts';
import { useEventView } from '../events/event-view.ts';
import { ActiveSilences } from './active-silences.tsx';
import { AgentsCard } from './agents-card.tsx';
import { BackendCard } from './backend-card.tsx';
import { NamespacesCard } from './namespaces-card.tsx';
import { useSummaries } from './summaries.ts';

const SHOWN = 8;
const PROBLEMS = filterIn(new URLSearchParams());
const COUNTED = [
  ['critical', 'Critical'],
  ['warning', 'Warning'],
  ['unknown', 'Unknown'],
] as const;

/** What is wrong now, since when, and who was notified; silent agents; silences; the backend itself. */
export function HomePage({ params: { namespace = '' } }: PageProps) {
  const view = useEventView(namespace, PROBLEMS, 'home');
  // The numbers at the top always show the present.
  if (view.pending.length > 0) queueMicrotask(view.showPending);
  const summaries = useSummaries().state.value;
  const summary = summaries.data?.find(({ name }) => name === namespace);
  const { isLoading, error } = view.list.state.value;
  const rows = view.lines.flatMap((line) => (line.type === 'row' ? [line.row] : []));
  const problems = rows.filter(({ status, state }) => status !== 0 || state === 'flapping');
  const unhandled = problems.filter(({ silenced }) => silenced.length === 0);
  const silent = problems.filter(({ check }) => check === 'keepalive');
  if (error !== undefined && rows.length === 0) {
    return <Failure title="The events could not be read" message={error} retry={() => view.list.reload()} />;
  }
  if (isLoading && rows.length === 0) return <Loading />;
  return (
    <div class="stack">
      <div class="headline">
        <h1>{headline(unhandled.length)}</h1>
        <ul class="counts">
          {COUNTED.map(([tone, label]) => (
            <li key={tone}>
              <a class={`count tone-${tone}`} href={`${paths.events(namespace)}?status=${tone}&silenced=no`}>
                <StatusShape tone={tone} size={20} />
                <strong>{unhandled.filter(({ status }) => toneOf(status) === tone).length}</strong>
                <span>{label}</span>
              </a>
            </li>
          ))}
          <li>
            <a class="count tone-muted" href={`${paths.events(namespace)}?silenced=only`}>
              <strong>{problems.length - unhandled.length}</strong>
              <span>Silenced</span>
            </a>
          </li>
        </ul>
      </div>
      <Problems namespace={namespace} rows={unhandled} />
      <div class="columns columns-home">
        <AgentsCard namespace={namespace} summary={summary} rows={silent} />
        <ActiveSilences namespace={namespace} />
        <BackendCard />
        <NamespacesCard loaded={summaries} />
      </div>
    </div>
  );
}

function headline(open: number): string {
  if (open === 0) return 'Nothing is wrong';
  return open === 1 ? '1 problem needs attention' : `${open.toLocaleString()} problems need attention`;
}

function Problems({ namespace, rows }: { namespace: string; rows: readonly EventRow[] }) {
  return (
    <section class="card" aria-labelledby="problems">
      <header>
        <h2 id="problems">What is wrong</h2>
        <a href={paths.events(namespace)}>All events</a>
      </header>
      {rows.length === 0 ? (
        <Empty title="Every check passes or is silenced" />
      ) : (
        <ul class="problem-list">
          {rows.slice(0, SHOWN).map((row) => (
            <li key={`${row.entity}/${row.check}`} data-key={`${row.entity}/${row.check}`}>
              <StatusMark status={row.status} />
              <a href={paths.event(namespace, row.entity, row.check)} title={`${row.entity} ${row.check}`}>
                <strong>{row.entity}</strong> {row.check}
              </a>
              <span class="problem-output">{row.output}</span>
              <span class="nowrap">
                for <Since at={row.since} />
              </span>
              <span class="muted problem-notified">{notifiedText(row)}</span>
            </li>
          ))}
        </ul>
      )}
      {rows.length > SHOWN && (
        <p class="more">
          <a href={paths.events(namespace)}>{rows.length - SHOWN} more</a>
        </p>
      )}
    </section>
  );
}
