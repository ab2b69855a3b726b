import { memo } from '../../components/memo.ts';
import { Labels } from '../../components/chips.tsx';
import { HistoryStrip } from '../../components/history-strip.tsx';
import { Icon } from '../../components/icon.tsx';
import { StatusMark } from '../../components/status.tsx';
import { Ago, Since } from '../../components/time.tsx';
import { paths } from '../../routing/paths.ts';
import { type EventRow, isProblem, notifiedText } from './event-row.ts';
import { withLabel } from '../../routing/label-query.ts';

export const EVENT_COLUMNS = 7;
export const EVENT_HEIGHTS = { wide: 56, narrow: 148 };

export function EventHead({
  isAllSelected,
  onSelectAll,
}: {
  isAllSelected: boolean;
  onSelectAll: (all: boolean) => void;
}) {
  return (
    <tr>
      <th scope="col" class="cell-select">
        <input
          type="checkbox"
          aria-label="Select all events of the list"
          checked={isAllSelected}
          onChange={({ currentTarget }) => onSelectAll(currentTarget.checked)}
        />
      </th>
      <th scope="col">Status</th>
      <th scope="col">Event</th>
      <th scope="col">Since</th>
      <th scope="col">Notified</th>
      <th scope="col">Last 21</th>
      <th scope="col">Last result</th>
    </tr>
  );
}

interface EventLineProps {
  row: EventRow;
  index: number;
  isSelected: boolean;
  isCurrent: boolean;
  onSelect: (isSelected: boolean) => void;
}

function Line({ row, index, isSelected, isCurrent, onSelect }: EventLineProps) {
  const { namespace, entity, check, status, silenced } = row;
  const name = `${entity} ${check}`;
  const isHandled = silenced.length > 0 || !isProblem(row);
  return (
    <tr
      class={`row${isCurrent ? ' is-current' : ''}${isHandled ? ' is-handled' : ''}`}
      aria-rowindex={index + 2}
      aria-current={isCurrent ? 'true' : undefined}
      data-key={`${entity}/${check}`}
      data-status={status}
    >
      <td class="cell-select">
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={isSelected}
          onChange={({ currentTarget }) => onSelect(currentTarget.checked)}
        />
      </td>
      <td class="cell-status">
        <StatusMark status={status} isFlapping={row.state === 'flapping'} />
      </td>
      <td class="cell-event">
        <span class="event-name">
          <a class="row-link" href={paths.event(namespace, entity, check)} title={name}>
            <span class="row-entity">{entity}</span> <span class="row-check">{check}</span>
          </a>
          <Labels labels={row.labels} hrefOf={withLabel} />
        </span>
        <span class="row-output">{row.output === '' ? <span class="muted">no output</span> : row.output}</span>
      </td>
      <td class="cell-since">
        {isProblem(row) ? <Since at={row.since} /> : <span class="muted">–</span>}
        <span class="muted row-count">{isProblem(row) ? `${row.occurrences} in a row` : ''}</span>
      </td>
      <td class="cell-notified">
        {silenced.length > 0 && <Icon name="silences" />}
        <span title={notifiedText(row)}>{notifiedText(row)}</span>
      </td>
      <td class="cell-strip">
        <HistoryStrip statuses={row.history} />
      </td>
      <td class="cell-last muted">
        <Ago at={row.last_at} />
      </td>
    </tr>
  );
}

export const EventLine = memo(Line, ['row', 'index', 'isSelected', 'isCurrent']);
