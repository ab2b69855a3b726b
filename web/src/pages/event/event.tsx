import { useState } from 'preact/hooks';
import { useKeys } from '../../app/keyboard.ts';
import { at, CORE, get, MON } from '../../api/client.ts';
import { HistoryStrip } from '../../components/history-strip.tsx';
import { Failure, Loading } from '../../components/states.tsx';
import { StatusMark } from '../../components/status.tsx';
import { Labels } from '../../components/chips.tsx';
import { Ago } from '../../components/time.tsx';
import { LazyChart } from '../../machines/lazy-chart.ts';
import { navigate, query } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';
import { deleteEvents, resolveEvents, runAgain } from '../events/event-actions.ts';
import { Fact } from '../home/backend-card.tsx';
import { SilenceDialog } from '../silences/silence-dialog.tsx';
import { Changes } from './changes.tsx';
import { Countdown } from './countdown.tsx';
import { DryRun } from './dry-run.tsx';
import type { Explanation } from './explanation.ts';
import { Handled } from './handled.tsx';
import { type HookResult, Hooks } from './hooks.tsx';
import { Metrics } from './metrics.tsx';
import { Moment } from './moment.tsx';
import { Why } from './why.tsx';

interface StoredEvent {
  timestamp: number;
  entity: { metadata: { name: string; labels?: Record<string, string> }; last_seen?: number };
  check: {
    metadata: { name: string; labels?: Record<string, string> };
    status: number;
    state?: string;
    output: string;
    executed: number;
    last_ok: number;
    occurrences: number;
    interval: number;
    cron?: string;
    command?: string;
    ttl: number;
    handlers: readonly string[];
    is_silenced: boolean;
    history: readonly { status: number; executed: number }[] | null;
    hooks?: readonly HookResult[] | null;
  };
}

export function EventPage({ params }: PageProps) {
  const { namespace = '', entity = '', check = '' } = params;
  const address = { namespace, entity, check };
  const moment = query.value.get('at') ?? '';
  const [isSilencing, setSilencing] = useState(false);
  const path = at`/namespaces/${namespace}/events/${entity}/${check}`;
  const isOwn = ({ key }: { key: string }): boolean => key === `${namespace}/${entity}/${check}`;
  const concerns = ({ kind, key }: { kind: string; key: string }): boolean =>
    isOwn({ key }) || ((kind === 'silence' || kind === 'silenced') && key.startsWith(`${namespace}/`));
  const event = useLoaded(path, (signal) => get<StoredEvent>(`${CORE}${path}`, { signal }), {
    when: concerns,
    everyMs: 10_000,
  });
  const explained = useLoaded(
    `${path} ${moment}`,
    (signal) => get<Explanation>(`${MON}${path}/explain`, { signal, query: { at: moment } }),
    moment === '' ? { when: concerns, everyMs: 5_000 } : {},
  );
  const outcome = {
    hidden: () => undefined,
    done: () => {
      event.reload();
      explained.reload();
    },
  };
  const leaving = { hidden: () => undefined, done: () => navigate(paths.events(namespace)) };
  useKeys({
    s: () => setSilencing(true),
    r: () => resolveEvents([address], outcome),
    e: () => void runAgain([address]),
    '#': () => deleteEvents([address], leaving),
  });
  const { data, error } = event.state.value;
  if (error !== undefined && data === undefined) {
    const message = error === 'not found' ? 'This event does not exist. It may have been deleted.' : error;
    return <Failure title={`${entity} ${check}`} message={message} retry={event.reload} />;
  }
  if (data === undefined) return <Loading what="Reading the event" />;
  const explanation = explained.state.value.data;
  const history = data.check.history ?? [];
  return (
    <div class="stack">
      <div class="page-head">
        <StatusMark status={data.check.status} isFlapping={data.check.state === 'flapping'} />
        <h1>
          <a href={paths.entity(namespace, entity)}>{entity}</a> <span class="muted">›</span>{' '}
          {check === 'keepalive' ? check : <a href={paths.check(namespace, check)}>{check}</a>}
        </h1>
        <div class="actions">
          <button type="button" onClick={() => setSilencing(true)}>
            Silence
          </button>
          <button type="button" onClick={() => resolveEvents([address], outcome)} disabled={data.check.status === 0}>
            Resolve
          </button>
          {check !== 'keepalive' && (
            <button type="button" onClick={() => void runAgain([address])}>
              Run again
            </button>
          )}
          <a class="button" href={paths.resource(namespace, 'events', `${entity}/${check}`)}>
            JSON
          </a>
          <button type="button" class="button-danger" onClick={() => deleteEvents([address], leaving)}>
            Delete
          </button>
        </div>
      </div>
      <section class="card">
        <pre class="output">{data.check.output === '' ? '(no output)' : data.check.output}</pre>
        <HistoryStrip statuses={history.map(({ status }) => status)} times={history.map(({ executed }) => executed)} />
      </section>
      <div class="columns columns-wide">
        <div class="stack">
          <Why explanation={explanation} error={explained.state.value.error}>
            <Moment moment={moment} explanation={explanation} />
          </Why>
          {explanation !== undefined && (
            <Handled namespace={namespace} explanation={explanation} onReplayed={explained.reload} />
          )}
          <Hooks hooks={data.check.hooks ?? []} />
          <DryRun namespace={namespace} events={[address]} />
          {explanation !== undefined && <Changes explanation={explanation} />}
        </div>
        <div class="stack">
          <section class="card" aria-labelledby="facts">
            <header>
              <h2 id="facts">Facts</h2>
            </header>
            <dl class="facts">
              {explanation?.state.problem_since !== null && explanation !== undefined && (
                <Fact name="Began">
                  <Ago at={explanation.state.problem_since} />
                </Fact>
              )}
              <Fact name="Last result">
                <Ago at={data.check.executed || data.timestamp} />
              </Fact>
              <Fact name="Last OK">
                <Ago at={data.check.last_ok} />
              </Fact>
              <Fact name="In a row">{data.check.occurrences}</Fact>
              <Fact name="Runs">{data.check.cron ?? `every ${data.check.interval} s`}</Fact>
              {data.check.command !== undefined && data.check.command !== '' && (
                <Fact name="Command">
                  <code>{data.check.command}</code>
                </Fact>
              )}
              <Fact name="Handlers">{data.check.handlers.length === 0 ? 'none' : data.check.handlers.join(', ')}</Fact>
            </dl>
            <Labels
              labels={{ ...data.entity.metadata.labels, ...data.check.metadata.labels }}
              hrefOf={(label) => `${paths.events(namespace)}?status=all&label=${encodeURIComponent(label)}`}
              isCopyable
            />
          </section>
          <Countdown explanation={explanation} isNow={moment === ''} />
          <Metrics {...address} />
          <section class="card" aria-labelledby="machines">
            <header>
              <h2 id="machines">State machines</h2>
            </header>
            <LazyChart {...chartOf(address, data.check.ttl)} />
            <ul class="plain-list">
              <li>
                <a href={paths.actor('check-state', `${namespace}/${entity}/${check}`)}>State of the check</a>
              </li>
              {data.check.ttl > 0 && (
                <li>
                  <a href={paths.actor('check-ttl', `${namespace}/${entity}/${check}`)}>Check TTL</a>
                </li>
              )}
              <li>
                <a href={paths.actor('entity', `${namespace}/${entity}`)}>Keepalives of the entity</a>
              </li>
              <li>
                <a href={paths.ledger({ key: `${namespace}/${entity}/${check}` })}>Ledger</a>
              </li>
            </ul>
          </section>
        </div>
      </div>
      {isSilencing && (
        <SilenceDialog
          namespace={namespace}
          events={[address]}
          onClose={() => setSilencing(false)}
          onDone={explained.reload}
        />
      )}
    </div>
  );
}

/** What the page shows as a chart: the machine that raises an alert by itself, if there is one. */
function chartOf({ namespace, entity, check }: { namespace: string; entity: string; check: string }, ttl: number) {
  if (check === 'keepalive') {
    return {
      machine: 'entity',
      actorKey: `${namespace}/${entity}`,
      absent: 'No keepalive is expected of this entity.',
    };
  }
  const actorKey = `${namespace}/${entity}/${check}`;
  return ttl > 0
    ? { machine: 'check-ttl', actorKey, absent: 'The check TTL begins with the next result.' }
    : { machine: 'check-state', actorKey, absent: 'The check has no state yet.' };
}
