import { setQuery } from '../../routing/location.ts';
import type { Explanation } from './explanation.ts';

const MS = 1_000;
const MINUTE_MS = 60_000;

/** A time in the format of the browser's time field, in the user's zone. */
function localValue(seconds: number): string {
  const offsetMs = new Date(seconds * MS).getTimezoneOffset() * MINUTE_MS;
  return new Date(seconds * MS - offsetMs).toISOString().slice(0, 19);
}

/** Chooses the moment that is explained, and steps between the changes on record. */
export function Moment({ moment, explanation }: { moment: string; explanation: Explanation | undefined }) {
  const show = (seconds: number | undefined): void =>
    setQuery({ at: seconds === undefined ? '' : String(Math.ceil(seconds)) });
  const changes = explanation?.changes.items ?? [];
  const current = explanation?.at ?? Date.now() / MS;
  const before = changes.find((change) => change.at < current - 1);
  return (
    <span class="moment">
      <label>
        <span class="sr-only">Explain this moment</span>
        <input
          type="datetime-local"
          step="1"
          value={localValue(current)}
          onChange={({ currentTarget }) => {
            const ms = new Date(currentTarget.value).getTime();
            if (!Number.isNaN(ms)) show(ms / MS);
          }}
        />
      </label>
      <button type="button" disabled={before === undefined} onClick={() => before !== undefined && show(before.at)}>
        Before
      </button>
      <button type="button" disabled={moment === ''} onClick={() => show(undefined)}>
        Now
      </button>
    </span>
  );
}
