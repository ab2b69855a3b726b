import { useState } from 'preact/hooks';
import { at, MON, request } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { Outcome } from './outcome.tsx';

interface Run {
  handler: string;
  pipeline: string | null;
  outcome: string;
  reason: string;
  filters: readonly {
    name: string;
    passes: boolean | null;
    expressions: readonly { expression: string; value: string }[];
  }[];
  missing: readonly string[];
}

interface DryRunAnswer {
  silenced: readonly string[];
  runs: readonly Run[];
}

interface DryRunProps {
  namespace: string;
  /** The events to choose from. */
  events: readonly { entity: string; check: string }[];
  /** The handlers or pipelines to run instead of those of the event. */
  only?: { handlers: readonly string[] } | { pipelines: readonly string[] };
}

const nameOf = ({ entity, check }: { entity: string; check: string }): string => `${entity} ${check}`;

/** Asks what would be run with an event now, without running it. */
export function DryRun({ namespace, events, only }: DryRunProps) {
  const [answer, setAnswer] = useState<DryRunAnswer | string | undefined>(undefined);
  const [chosen, setChosen] = useState('');
  const event = events.find((one) => nameOf(one) === chosen) ?? events[0];
  const ask = async (): Promise<void> => {
    if (event === undefined) return;
    try {
      const path = `${MON}${at`/namespaces/${namespace}/pipeline/dry-run`}`;
      const body = { event: { entity: event.entity, check: event.check }, ...only };
      const response = await request('POST', path, { body });
      setAnswer((await response.json()) as DryRunAnswer);
    } catch (error) {
      setAnswer(messageOf(error));
    }
  };
  return (
    <section class="card" aria-labelledby="dry-run">
      <header>
        <h2 id="dry-run">What would run now</h2>
        <span class="dry-run-form">
          {events.length > 1 && (
            <label>
              <span class="sr-only">With the event</span>
              <select
                value={event === undefined ? '' : nameOf(event)}
                onChange={({ currentTarget }) => {
                  setChosen(currentTarget.value);
                  setAnswer(undefined);
                }}
              >
                {events.map((one) => (
                  <option key={nameOf(one)} value={nameOf(one)}>
                    {nameOf(one)}
                  </option>
                ))}
              </select>
            </label>
          )}
          <button type="button" disabled={event === undefined} onClick={() => void ask()}>
            Dry run
          </button>
        </span>
      </header>
      {answer === undefined && (
        <p class="muted">
          {event === undefined
            ? 'A dry run needs an event, and there is none yet.'
            : `Evaluates the filters and mutators with ${events.length > 1 ? 'one' : 'this'} event. Nothing is run.`}
        </p>
      )}
      {typeof answer === 'string' && <p class="error-text">{answer}</p>}
      {typeof answer === 'object' && (
        <ul class="plain-list" data-dry-run>
          {answer.runs.length === 0 && <li class="muted">No handler.</li>}
          {answer.runs.map((run) => (
            <li key={`${run.pipeline} ${run.handler}`}>
              <Outcome outcome={run.outcome} />
              <strong>{run.handler}</strong>
              <span>{run.reason}</span>
              <span class="muted">
                {run.filters
                  .map(({ name, passes }) => `${name}: ${passes === null ? 'not asked' : passes ? 'passes' : 'stops'}`)
                  .join(', ')}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
