import { navigate, query } from '../../routing/location.ts';
import { paths } from '../../routing/paths.ts';

/** The parameters of the ledger in the API, as fields. */
export const PARAMETERS = [
  { name: 'key_prefix', label: 'Entity', hint: 'default/web-1' },
  { name: 'key', label: 'Exact key', hint: 'default/web-1/disk' },
  { name: 'actor', label: 'Kind', hint: 'check-state' },
  { name: 'event', label: 'Event', hint: 'deadline.reached' },
  { name: 'cause', label: 'Cause', hint: '' },
  { name: 'user', label: 'User', hint: 'admin' },
  { name: 'from', label: 'From state', hint: 'passing' },
  { name: 'to', label: 'To state', hint: 'failing' },
  { name: 'since', label: 'Since', hint: '' },
  { name: 'until', label: 'Until', hint: '' },
] as const;

/** The kinds of causes, and what they mean. */
const CAUSES = [
  ['', 'Any'],
  ['event', 'Event'],
  ['deadline', 'Deadline'],
  ['user', 'User'],
  ['session', 'Agent session'],
  ['backend', 'Backend'],
  ['restore', 'Start of the backend'],
] as const;
const TIMES: ReadonlySet<string> = new Set(['since', 'until']);
const MS = 1_000;
const MINUTE_MS = 60_000;

/** Unix seconds in the format of the browser's time field, in the user's zone. */
function localValue(value: string): string {
  const ms = Number(value) * MS;
  if (value === '' || Number.isNaN(ms)) return '';
  return new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19);
}

export function LedgerFilter() {
  const submit = (form: HTMLFormElement): void => {
    const filter: Record<string, string> = {};
    for (const [name, value] of new FormData(form)) {
      if (typeof value !== 'string' || value.trim() === '') continue;
      filter[name] = TIMES.has(name) ? String(Math.floor(new Date(value).getTime() / MS)) : value.trim();
    }
    navigate(paths.ledger(filter));
  };
  return (
    <form
      class="ledger-filter"
      role="search"
      key={query.value.toString()}
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
    >
      {PARAMETERS.map(({ name, label, hint }) => (
        <label key={name}>
          <span>{label}</span>
          {name === 'cause' ? (
            <select name={name} defaultValue={query.value.get(name) ?? ''}>
              {CAUSES.map(([value, text]) => (
                <option key={value} value={value} selected={value === (query.value.get(name) ?? '')}>
                  {text}
                </option>
              ))}
            </select>
          ) : TIMES.has(name) ? (
            <input name={name} type="datetime-local" step="1" defaultValue={localValue(query.value.get(name) ?? '')} />
          ) : (
            <input name={name} placeholder={hint} defaultValue={query.value.get(name) ?? ''} />
          )}
        </label>
      ))}
      <span class="ledger-buttons">
        <button type="submit" class="button-primary">
          Search
        </button>
        <button type="button" onClick={() => navigate(paths.ledger())}>
          Clear
        </button>
      </span>
    </form>
  );
}
