import { StatusShape, toneOf } from '../../components/status.tsx';
import { Since } from '../../components/time.tsx';
import { LiveMark } from '../../app/live-mark.tsx';
import { query, withQuery } from '../../routing/location.ts';
import { paths } from '../../routing/paths.ts';
import { filterIn } from './event-filter.ts';
import { useEventView } from './event-view.ts';

/** What a screen on a wall can show. */
const MAX_TILES = 60;

/** The worst problems, large and without controls. Silenced ones are pale. The order is always current. */
export function Wall({ namespace }: { namespace: string }) {
  const filter = filterIn(query.value);
  const view = useEventView(namespace, filter, `${query.value.toString()} wall`);
  if (view.pending.length > 0) queueMicrotask(view.showPending);
  const rows = view.lines.flatMap((line) => (line.type === 'row' && line.row.status !== 0 ? [line.row] : []));
  const open = rows.filter(({ silenced }) => silenced.length === 0).length;
  return (
    <div class="wall">
      <header>
        <h1>{open === 0 ? 'No open problem' : `${open} open ${open === 1 ? 'problem' : 'problems'}`}</h1>
        <p class="muted">
          {namespace} · {rows.length - open} silenced · <LiveMark /> · <a href={withQuery({ view: '' })}>Leave</a>
        </p>
      </header>
      <ul>
        {rows.slice(0, MAX_TILES).map((row) => (
          <li
            key={`${row.entity}/${row.check}`}
            class={`tile tile-${toneOf(row.status)}${row.silenced.length > 0 ? ' is-handled' : ''}`}
          >
            <a href={paths.event(namespace, row.entity, row.check)}>
              <StatusShape tone={toneOf(row.status)} size={28} />
              <strong>{row.entity}</strong>
              <span>{row.check}</span>
              <span class="tile-output">{row.output}</span>
              <span class="tile-since">
                <Since at={row.since} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
