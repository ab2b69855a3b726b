import { useState } from 'preact/hooks';
import { at, CORE, get, list, MON } from '../../api/client.ts';
import { Labels } from '../../components/chips.tsx';
import { HistoryStrip } from '../../components/history-strip.tsx';
import { Failure, Loading } from '../../components/states.tsx';
import { StatusMark } from '../../components/status.tsx';
import { Ago, exactTime } from '../../components/time.tsx';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';
import { DryRun } from '../event/dry-run.tsx';
import type { EventRow } from '../events/event-row.ts';
import { Fact } from '../home/backend-card.tsx';
import { type CheckConfig, scheduleOf } from './check-config.ts';
import { execute } from './checks.tsx';

interface Schedule {
  upcoming: readonly number[];
  last_at: number | null;
  last_skip: { at: number | null; reason: string; detail?: string } | null;
}

interface Streak {
  outcome: string;
  reason?: string;
  from: number;
  to: number;
  count?: number;
}

const TICKS = 12;

export function CheckPage({ params: { namespace = '', check: name = '' } }: PageProps) {
  const [where, setWhere] = useState('');
  const path = at`/namespaces/${namespace}/checks/${name}`;
  const check = useLoaded(path, (signal) => get<CheckConfig>(`${CORE}${path}`, { signal }), {
    when: ({ kind, key }) => kind === 'checks' && key === `${namespace}/${name}`,
  });
  const schedule = useLoaded(`schedule ${path}`, (signal) => get<Schedule>(`${MON}${path}/schedule`, { signal }), {
    everyMs: 5_000,
  });
  const ticks = useLoaded(
    `ticks ${path}`,
    (signal) => get<{ ticks: Streak[] }>(`${MON}${path}/ticks`, { signal, query: { limit: 1_000 } }),
    { everyMs: 10_000 },
  );
  const events = useLoaded(
    `events of ${path}`,
    (signal) =>
      list<EventRow>(`${MON}${at`/namespaces/${namespace}/event-summaries`}`, {
        signal,
        query: { limit: 500, fieldSelector: `event.check.name == "${name}"` },
      }),
    { when: ({ key }) => key.startsWith(`${namespace}/`) && key.endsWith(`/${name}`), everyMs: 15_000 },
  );
  const { data, error } = check.state.value;
  if (error !== undefined && data === undefined) return <Failure title={name} message={error} retry={check.reload} />;
  if (data === undefined) return <Loading what="Reading the check" />;
  const planned = schedule.state.value.data;
  const rows = events.state.value.data?.items ?? [];
  const upcoming = data.publish ? (planned?.upcoming ?? []) : [];
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{name}</h1>
        <p>{scheduleOf(data)}</p>
        <div class="actions">
          <label>
            <span class="sr-only">Run on</span>
            <input
              value={where}
              placeholder={(data.subscriptions ?? []).join(', ') || 'entity:name'}
              onInput={({ currentTarget }) => setWhere(currentTarget.value)}
            />
          </label>
          <button
            type="button"
            onClick={() => {
              const chosen = where.split(/[\s,]+/).filter(Boolean);
              void execute(namespace, name, chosen.length === 0 ? undefined : chosen);
            }}
          >
            Run now
          </button>
          <a class="button" href={paths.resource(namespace, 'checks', name)}>
            Edit
          </a>
        </div>
      </div>
      <div class="columns columns-wide">
        <div class="stack">
          <section class="card" aria-labelledby="check-results">
            <header>
              <h2 id="check-results">Last result of each entity</h2>
              <span class="muted">{rows.length}</span>
            </header>
            <ul class="entity-events">
              {rows.map((row) => (
                <li key={row.entity}>
                  <StatusMark status={row.status} />
                  <a href={paths.event(namespace, row.entity, name)}>
                    <strong>{row.entity}</strong>
                  </a>
                  <span class="problem-output">{row.output}</span>
                  <HistoryStrip statuses={row.history} />
                  <span class="muted nowrap">
                    <Ago at={row.last_at} />
                  </span>
                </li>
              ))}
            </ul>
            {rows.length === 0 && <p class="muted">No result yet.</p>}
          </section>
          <DryRun namespace={namespace} events={rows} />
        </div>
        <div class="stack">
          <section class="card" aria-labelledby="check-facts">
            <header>
              <h2 id="check-facts">Facts</h2>
            </header>
            <dl class="facts">
              <Fact name="Command">
                <code>{data.command}</code>
              </Fact>
              <Fact name="Subscriptions">{(data.subscriptions ?? []).join(', ') || 'none'}</Fact>
              <Fact name="Handlers">{(data.handlers ?? []).join(', ') || 'none'}</Fact>
              <Fact name="Time limit">{data.timeout === 0 ? 'none' : `${data.timeout} s`}</Fact>
              <Fact name="TTL">{data.ttl === 0 ? 'none' : `${data.ttl} s`}</Fact>
              <Fact name="Last run">
                <Ago at={planned?.last_at} />
              </Fact>
              {planned?.last_skip !== null && planned !== undefined && (
                <Fact name="Last skipped">
                  {planned.last_skip.reason}, <Ago at={planned.last_skip.at} />
                </Fact>
              )}
            </dl>
            <Labels
              labels={data.metadata.labels ?? {}}
              hrefOf={(label) => `${paths.checks(namespace)}?label=${encodeURIComponent(label)}`}
              isCopyable
            />
          </section>
          {upcoming.length > 0 && (
            <section class="card" aria-labelledby="check-next">
              <header>
                <h2 id="check-next">Next runs</h2>
              </header>
              <ol class="plain-list">
                {upcoming.map((time) => (
                  <li key={time}>
                    <span>{exactTime(time)}</span>
                    <span class="muted">
                      <Ago at={time} />
                    </span>
                  </li>
                ))}
              </ol>
            </section>
          )}
          <section class="card" aria-labelledby="check-ticks">
            <header>
              <h2 id="check-ticks">Ticks on record</h2>
              <a href={paths.actor('check-schedule', `${namespace}/${name}`)}>State machine</a>
            </header>
            {ticks.state.value.data?.ticks.length === 0 && <p class="muted">No run was due yet.</p>}
            <ol class="plain-list">
              {(ticks.state.value.data?.ticks ?? [])
                .slice(-TICKS)
                .reverse()
                .map(({ outcome, reason, from, to, count }) => (
                  <li key={from}>
                    <span>
                      {outcome}
                      {reason === undefined ? '' : `: ${reason}`}
                      {count === undefined ? '' : ` (${count})`}
                    </span>
                    <span class="muted" title={`${exactTime(from)} to ${exactTime(to)}`}>
                      <Ago at={to} />
                    </span>
                  </li>
                ))}
            </ol>
          </section>
        </div>
      </div>
    </div>
  );
}
