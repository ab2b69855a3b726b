import { useEffect, useState } from 'preact/hooks';
import { get } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { StatusShape, toneOf } from '../../components/status.tsx';
import { nameOf, type Preview, previewPath, type Target } from './silence.ts';

const SHOWN = 8;
const PAUSE_MS = 150;
/** Targets whose matches are read; the others are counted as one event each. */
const MAX_READ = 20;

type State = { events: Preview['events']; count: number } | { error: string } | undefined;

/** Lists the events that the silences would match, as the backend reports them. */
export function SilencePreview({ namespace, targets }: { namespace: string; targets: readonly Target[] }) {
  const [state, setState] = useState<State>(undefined);
  const key = targets.map(nameOf).join(' ');
  useEffect(() => {
    const aborting = new AbortController();
    const timer = setTimeout(() => {
      read(namespace, targets, aborting.signal).then(setState, (error: unknown) => {
        if (!aborting.signal.aborted) setState({ error: messageOf(error) });
      });
    }, PAUSE_MS);
    return () => {
      aborting.abort();
      clearTimeout(timer);
    };
  }, [namespace, key]);
  if (state === undefined) return <p class="preview muted">Searching matching events …</p>;
  if ('error' in state) return <p class="preview error-text">{state.error}</p>;
  const { events, count } = state;
  return (
    <div class="preview" role="status" data-count={count}>
      <strong>
        {count === 0 ? 'Matches no event now' : `Matches ${count} ${count === 1 ? 'event' : 'events'} now`}
      </strong>
      <ul>
        {events.slice(0, SHOWN).map(({ entity, check, status }) => (
          <li key={`${entity}/${check}`} data-event={`${entity}/${check}`}>
            <StatusShape tone={toneOf(status)} /> {entity} <span class="muted">{check}</span>
          </li>
        ))}
      </ul>
      {count > SHOWN && <span class="muted">and {count - Math.min(SHOWN, events.length)} more</span>}
    </div>
  );
}

async function read(namespace: string, targets: readonly Target[], signal: AbortSignal): Promise<State> {
  const previews = await Promise.all(
    targets
      .slice(0, MAX_READ)
      .map(({ subscription, check }) =>
        get<Preview>(previewPath(namespace), { query: { subscription, check }, signal }),
      ),
  );
  const events = new Map(previews.flatMap((one) => one.events).map((one) => [`${one.entity}/${one.check}`, one]));
  const [only] = previews;
  const beyond = targets.length - Math.min(targets.length, MAX_READ);
  return { events: [...events.values()], count: previews.length === 1 && only ? only.count : events.size + beyond };
}
