import { StatusMark, StatusShape, type Tone } from '../../components/status.tsx';
import { Since } from '../../components/time.tsx';
import { paths } from '../../routing/paths.ts';
import type { EventRow } from '../events/event-row.ts';
import type { NamespaceSummary } from './summaries.ts';

const SHOWN = 8;

/** The states of keepalives, with their words and the list that a number leads to. */
const STATES: readonly { state: string; words: string; tone: Tone; listOf: (namespace: string) => string }[] = [
  { state: 'registered', words: 'in time', tone: 'ok', listOf: (namespace) => paths.agents(namespace) },
  { state: 'warning', words: 'late', tone: 'warning', listOf: (namespace) => silent(namespace, 'warning') },
  { state: 'critical', words: 'silent', tone: 'critical', listOf: (namespace) => silent(namespace, 'critical') },
];

const silent = (namespace: string, status: string): string => `${paths.events(namespace)}?status=${status}&q=keepalive`;

interface AgentsCardProps {
  namespace: string;
  summary: NamespaceSummary | undefined;
  /** The events of agents that are silent. */
  rows: readonly EventRow[];
}

/** The agents of the namespace by the state of their keepalives, and those that are silent. */
export function AgentsCard({ namespace, summary, rows }: AgentsCardProps) {
  const agents = summary?.agents ?? undefined;
  /** Undefined before the answer, and for a user who may not list agents. */
  const countOf = (state: string): number | undefined => agents && (agents[state] ?? 0);
  return (
    <section class="card" aria-labelledby="home-agents">
      <header>
        <h2 id="home-agents">Agents</h2>
        <a href={paths.agents(namespace)}>Connections</a>
      </header>
      <ul class="agent-states">
        {STATES.map(({ state, words, tone, listOf }) => (
          <li key={state} data-agents={state}>
            <a class={(countOf(state) ?? 0) > 0 ? `tone-${tone}` : 'muted'} href={listOf(namespace)}>
              <StatusShape tone={tone} />
              <strong>{countOf(state)?.toLocaleString() ?? '–'}</strong>
              <span>{words}</span>
            </a>
          </li>
        ))}
      </ul>
      {rows.length === 0 ? (
        <p class="muted">No agent is silent.</p>
      ) : (
        <ul class="plain-list">
          {rows.slice(0, SHOWN).map(({ entity, check, status, since }) => (
            <li key={entity}>
              <StatusMark status={status} />
              <a href={paths.event(namespace, entity, check)}>{entity}</a>
              <span class="nowrap muted">
                for <Since at={since} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
