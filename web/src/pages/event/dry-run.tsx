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

/** Asks what would be run with the event now, without running it. */
export function DryRun({ namespace, entity, check }: { namespace: string; entity: string; check: string }) {
  const [answer, setAnswer] = useState<DryRunAnswer | string | undefined>(undefined);
  const ask = async (): Promise<void> => {
    try {
      const path = `${MON}${at`/namespaces/${namespace}/pipeline/dry-run`}`;
      const response = await request('POST', path, { body: { event: { entity, check } } });
      setAnswer((await response.json()) as DryRunAnswer);
    } catch (error) {
      setAnswer(messageOf(error));
    }
  };
  return (
    <section class="card" aria-labelledby="dry-run">
      <header>
        <h2 id="dry-run">What would run now</h2>
        <button type="button" onClick={() => void ask()}>
          Dry run
        </button>
      </header>
      {answer === undefined && <p class="muted">Evaluates the filters and mutators with this event. Nothing is run.</p>}
      {typeof answer === 'string' && <p class="error-text">{answer}</p>}
      {typeof answer === 'object' && (
        <ul class="plain-list" data-dry-run>
          {answer.runs.length === 0 && <li>No handler.</li>}
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
