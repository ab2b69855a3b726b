import { useMemo, useState } from 'preact/hooks';
import { useKeys } from '../../app/keyboard.ts';
import { useRowKeys } from '../../app/row-keys.ts';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { navigate, query, setQuery, withQuery } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { namespaces } from '../../state/namespace.ts';
import { SilenceDialog } from '../silences/silence-dialog.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { deleteEvents, resolveEvents, runAgain } from './event-actions.ts';
import { filterIn } from './event-filter.ts';
import { EVENT_COLUMNS, EVENT_HEIGHTS, EventHead, EventLine } from './event-line.tsx';
import { MAX_ROWS } from './event-list.ts';
import type { EventKey, EventRow } from './event-row.ts';
import { EventToolbar } from './event-toolbar.tsx';
import { type Line, useEventView } from './event-view.ts';
import { GroupLine } from './group-line.tsx';
import { Wall } from './wall.tsx';

export function EventsPage({ params: { namespace = '' } }: PageProps) {
  const search = query.value;
  return search.get('view') === 'wall' ? <Wall namespace={namespace} /> : <EventsList namespace={namespace} />;
}

function EventsList({ namespace }: { namespace: string }) {
  const filter = filterIn(query.value);
  const view = useEventView(namespace, filter, query.value.toString());
  const { list, pending } = view;
  const { isLoading, isComplete, error } = list.state.value;
  const [selected, setSelected] = useState<ReadonlySet<EventKey>>(new Set());
  const [hidden, setHidden] = useState<ReadonlySet<EventKey>>(new Set());
  const [silencing, setSilencing] = useState<readonly EventRow[] | undefined>(undefined);

  const lines =
    hidden.size === 0 ? view.lines : view.lines.filter((line) => line.type === 'group' || !hidden.has(line.key));
  const keys = useMemo(() => keysOf(lines), [lines]);
  // Those in closed groups too.
  const matching = view.keys.filter((key) => !hidden.has(key) && list.rows.has(key));
  const rowsOf = (wanted: Iterable<EventKey>): EventRow[] => [...wanted].flatMap((key) => list.rows.get(key) ?? []);
  const current = useRowKeys({
    keys,
    open: (key) => {
      for (const { entity, check } of rowsOf([key])) navigate(paths.event(namespace, entity, check));
    },
    actions: { x: (key) => select(key, !selected.has(key)) },
  });
  const index = current === undefined ? -1 : lines.findIndex((line) => line.type === 'row' && line.key === current);
  const chosen = rowsOf(selected);
  const targets = (): EventRow[] => (chosen.length > 0 ? chosen : rowsOf(current === undefined ? [] : [current]));

  const select = (key: EventKey, isSelected: boolean): void => {
    const next = new Set(selected);
    if (isSelected) next.add(key);
    else next.delete(key);
    setSelected(next);
  };
  const outcome = {
    hidden: (events: readonly Pick<EventRow, 'entity' | 'check'>[], isHidden: boolean) => {
      setHidden((before) => {
        const next = new Set(before);
        for (const { entity, check } of events) {
          if (isHidden) next.add(`${entity}/${check}`);
          else next.delete(`${entity}/${check}`);
        }
        return next;
      });
      setSelected(new Set());
    },
    done: () => list.reload(),
  };
  const withTargets = (act: (rows: readonly EventRow[]) => void) => (event?: Event) => {
    const rows = targets();
    if (rows.length === 0) return;
    event?.preventDefault();
    act(rows);
  };
  const silence = withTargets((rows) => setSilencing(rows));
  const resolve = withTargets((rows) => resolveEvents(rows, outcome));
  const remove = withTargets((rows) => deleteEvents(rows, outcome));
  const run = withTargets((rows) => void runAgain(rows).then(() => setSelected(new Set())));
  useKeys({
    s: silence,
    r: resolve,
    e: run,
    '#': remove,
    a: () => setQuery({ status: filter.status === 'problems' ? 'all' : '' }),
    Escape: () => setSelected(new Set()),
  });

  const isAllSelected = keys.length > 0 && keys.every((key) => selected.has(key));
  return (
    <>
      <div class="page-head">
        <h1>Events</h1>
        <p aria-live="off" data-count={matching.length}>
          {countText(matching.length, filter.status, isLoading)}
          {filter.status === 'problems' && (
            <>
              {' '}
              <a href={withQuery({ status: 'all' })}>Show all</a>
            </>
          )}
        </p>
        <div class="actions">
          <button type="button" disabled={matching.length === 0} onClick={() => setSilencing(rowsOf(matching))}>
            Silence these
          </button>
          <a class="button" href={withQuery({ view: 'wall' })}>
            Wall view
          </a>
        </div>
      </div>
      <div class="list-head">
        <EventToolbar filter={filter} list={list} />
        {pending.length > 0 && (
          <button type="button" class="pending" onClick={view.showPending}>
            {pending.length} new {pending.length === 1 ? 'event' : 'events'}
          </button>
        )}
        {selected.size > 0 && (
          <BulkBar
            count={chosen.length}
            onSilence={() => silence()}
            onResolve={() => resolve()}
            onRun={() => run()}
            onDelete={() => remove()}
            onClear={() => setSelected(new Set())}
          />
        )}
      </div>
      {error !== undefined && matching.length === 0 && (
        <Failure title="The events could not be read" message={error} retry={() => list.reload()} />
      )}
      {matching.length > 0 ? (
        <VirtualRows
          label="Events"
          kind="events-rows"
          items={lines}
          heights={EVENT_HEIGHTS}
          columns={EVENT_COLUMNS}
          visibleIndex={index < 0 ? undefined : index}
          onRange={(first, last) => {
            list.visible = lines.slice(first, last).flatMap((line) => (line.type === 'row' ? [line.key] : []));
          }}
          head={
            <EventHead isAllSelected={isAllSelected} onSelectAll={(all) => setSelected(new Set(all ? keys : []))} />
          }
          row={(line, position) =>
            line.type === 'group' ? (
              <GroupLine key={`group ${line.name}`} line={line} />
            ) : (
              <EventLine
                key={line.key}
                row={line.row}
                index={position}
                isSelected={selected.has(line.key)}
                isCurrent={line.key === current}
                onSelect={(isSelected) => select(line.key, isSelected)}
              />
            )
          }
        />
      ) : (
        error === undefined &&
        (isLoading ? (
          <Loading what="Reading the events" />
        ) : (
          <NoEvents namespace={namespace} isNarrowed={isNarrowed()} />
        ))
      )}
      {!isComplete && !isLoading && error === undefined && (
        <p class="muted">
          Only the first {MAX_ROWS.toLocaleString()} events are listed. A namespace or a label narrows them.
        </p>
      )}
      {silencing !== undefined && (
        <SilenceDialog
          namespace={namespace}
          events={silencing}
          onClose={() => setSilencing(undefined)}
          onDone={() => {
            setSelected(new Set());
            list.reload();
          }}
        />
      )}
    </>
  );
}

function keysOf(lines: readonly Line[]): EventKey[] {
  const keys: EventKey[] = [];
  for (const line of lines) if (line.type === 'row') keys.push(line.key);
  return keys;
}

const isNarrowed = (): boolean => ['q', 'label', 'silenced'].some((name) => query.value.has(name));

function countText(count: number, status: string, isLoading: boolean): string {
  const noun = status === 'problems' ? (count === 1 ? 'problem' : 'problems') : count === 1 ? 'event' : 'events';
  return `${count.toLocaleString()} ${noun}${isLoading ? ' so far' : ''}.`;
}

function NoEvents({ namespace, isNarrowed: narrowed }: { namespace: string; isNarrowed: boolean }) {
  const known = namespaces.value;
  if (known.length > 0 && !known.includes(namespace)) {
    return (
      <Empty title={`No namespace ${namespace}`}>
        <p>It does not exist, or you may not read it.</p>
      </Empty>
    );
  }
  if (narrowed) {
    return (
      <Empty title="No event matches">
        <button type="button" onClick={() => setQuery({ q: '', silenced: '', label: '' })}>
          Clear the search
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No problems">
      <p>No check of this namespace fails.</p>
    </Empty>
  );
}
