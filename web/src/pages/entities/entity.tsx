import { useState } from 'preact/hooks';
import { useKeys } from '../../app/keyboard.ts';
import { at, get, list, MON } from '../../api/client.ts';
import { Labels } from '../../components/chips.tsx';
import { Failure, Loading } from '../../components/states.tsx';
import { HistoryStrip } from '../../components/history-strip.tsx';
import { StatusMark } from '../../components/status.tsx';
import { Ago, Since } from '../../components/time.tsx';
import { navigate } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';
import { type EventRow, isProblem } from '../events/event-row.ts';
import { Fact } from '../home/backend-card.tsx';
import { deleteEntity, entityPath } from './entities.tsx';
import { EntityCharts } from './entity-charts.tsx';
import { SilenceDialog } from '../silences/silence-dialog.tsx';

interface StoredEntity {
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  entity_class: string;
  last_seen: number;
  sensu_agent_version: string;
  subscriptions: readonly string[] | null;
  system: { hostname?: string; os?: string; platform?: string; platform_version?: string; arch?: string };
}

export function EntityPage({ params: { namespace = '', entity: name = '' } }: PageProps) {
  const [isSilencing, setSilencing] = useState(false);
  const path = entityPath(namespace, name);
  useKeys({ s: () => setSilencing(true), '#': () => remove() });
  const concerns = ({ key }: { key: string }): boolean => `${key}/`.startsWith(`${namespace}/${name}/`);
  const entity = useLoaded(path, (signal) => get<StoredEntity>(path, { signal }), { when: concerns, everyMs: 15_000 });
  const events = useLoaded(
    `events of ${path}`,
    (signal) =>
      list<EventRow>(`${MON}${at`/namespaces/${namespace}/event-summaries`}`, {
        signal,
        query: { limit: 500, fieldSelector: `event.entity.name == "${name}"` },
      }),
    { when: concerns, everyMs: 15_000 },
  );
  const { data, error } = entity.state.value;
  if (error !== undefined && data === undefined) return <Failure title={name} message={error} retry={entity.reload} />;
  if (data === undefined) return <Loading what="Reading the entity" />;
  const remove = (): void => {
    deleteEntity({ namespace, name }, () => navigate(paths.entity(namespace, name)));
    navigate(paths.entities(namespace));
  };
  const rows = events.state.value.data?.items ?? [];
  const { system } = data;
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{name}</h1>
        <p>{data.entity_class}</p>
        <div class="actions">
          <button type="button" onClick={() => setSilencing(true)}>
            Silence
          </button>
          <a class="button" href={paths.resource(namespace, 'entities', name)}>
            JSON
          </a>
          <button type="button" class="button-danger" onClick={remove}>
            Delete
          </button>
        </div>
      </div>
      <div class="columns columns-wide">
        <div class="stack">
          <section class="card" aria-labelledby="entity-events">
            <header>
              <h2 id="entity-events">Events</h2>
            </header>
            <ul class="entity-events">
              {rows.map((row) => (
                <li key={row.check}>
                  <StatusMark status={row.status} isFlapping={row.state === 'flapping'} />
                  <a href={paths.event(namespace, name, row.check)}>
                    <strong>{row.check}</strong>
                  </a>
                  <span class="problem-output">{row.output}</span>
                  <HistoryStrip statuses={row.history} />
                  <span class="muted nowrap">
                    {isProblem(row) ? <Since at={row.since} /> : <Ago at={row.last_at} />}
                  </span>
                </li>
              ))}
            </ul>
            {rows.length === 0 && <p class="muted">No check has a result for this entity.</p>}
          </section>
          <EntityCharts namespace={namespace} name={name} isAgent={data.entity_class === 'agent'} />
        </div>
        <div class="stack">
          <section class="card" aria-labelledby="entity-facts">
            <header>
              <h2 id="entity-facts">Facts</h2>
            </header>
            <dl class="facts">
              <Fact name="Last seen">
                <Ago at={data.last_seen} />
              </Fact>
              <Fact name="Agent">{data.sensu_agent_version || '–'}</Fact>
              <Fact name="Host name">{system.hostname ?? '–'}</Fact>
              <Fact name="System">
                {[system.platform ?? system.os, system.platform_version, system.arch].filter(Boolean).join(' ') || '–'}
              </Fact>
              <Fact name="Subscriptions">{(data.subscriptions ?? []).join(', ') || 'none'}</Fact>
            </dl>
            <Labels
              labels={data.metadata.labels ?? {}}
              hrefOf={(label) => `${paths.entities(namespace)}?label=${encodeURIComponent(label)}`}
              isCopyable
            />
          </section>
        </div>
      </div>
      {isSilencing && (
        <SilenceDialog
          namespace={namespace}
          events={[{ entity: name, check: 'keepalive' }]}
          extent="entity"
          onClose={() => setSilencing(false)}
        />
      )}
    </div>
  );
}
