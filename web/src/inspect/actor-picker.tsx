import { useState } from 'preact/hooks';

/** The kinds of actors that can be watched, and the form of their keys. */
const KEYS: Readonly<Record<string, string>> = {
  entity: 'namespace/entity',
  'check-ttl': 'namespace/entity/check',
  'check-state': 'namespace/entity/check',
  'check-schedule': 'namespace/check',
  connection: 'session',
  silence: 'namespace/subscription:check',
};

interface ActorPickerProps {
  actors: readonly string[];
  onChange: (actors: readonly string[]) => void;
}

/** Chooses the actors to watch. */
export function ActorPicker({ actors, onChange }: ActorPickerProps) {
  const [machine, setMachine] = useState('entity');
  return (
    <form
      class="actor-picker"
      onSubmit={(event) => {
        event.preventDefault();
        const key = new FormData(event.currentTarget).get('key');
        if (typeof key !== 'string' || key.trim() === '') return;
        onChange([...new Set([...actors, `${machine}:${key.trim()}`])]);
        event.currentTarget.reset();
      }}
    >
      <label>
        Machine{' '}
        <select value={machine} onChange={(event) => setMachine(event.currentTarget.value)}>
          {Object.keys(KEYS).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Key <input name="key" placeholder={KEYS[machine]} required />
      </label>
      <button type="submit">Watch</button>
      <ul class="chips">
        {actors.map((actor) => (
          <li key={actor} class="chip">
            {actor}
            <button
              type="button"
              class="chip-remove"
              aria-label={`Stop watching ${actor}`}
              onClick={() => onChange(actors.filter((other) => other !== actor))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </form>
  );
}
