import { Icon } from '../../components/icon.tsx';
import { StatusShape, toneOf } from '../../components/status.tsx';
import { navigate, url } from '../../routing/location.ts';
import { EVENT_COLUMNS } from './event-line.tsx';
import type { Line } from './event-view.ts';

/** Opens or closes a group in the address. */
function toggle(name: string): void {
  const next = new URL(url.value);
  const toggled = next.searchParams.getAll('closed');
  const others = toggled.filter((one) => one !== name);
  next.searchParams.delete('closed');
  for (const one of others.length < toggled.length ? others : [...others, name]) {
    next.searchParams.append('closed', one);
  }
  navigate(next.href, { replace: true });
}

export function GroupLine({ line }: { line: Extract<Line, { type: 'group' }> }) {
  return (
    <tr class="group-row">
      <td colSpan={EVENT_COLUMNS}>
        <button type="button" class="group-toggle" aria-expanded={!line.isClosed} onClick={() => toggle(line.name)}>
          <Icon name={line.isClosed ? 'right' : 'down'} />
          <StatusShape tone={toneOf(line.worst)} />
          <strong>{line.name}</strong>
          <span class="muted">{line.count}</span>
        </button>
      </td>
    </tr>
  );
}
