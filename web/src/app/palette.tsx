import { signal } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { navigate } from '../routing/location.ts';
import { paths } from '../routing/paths.ts';
import { namespace, namespaces } from '../state/namespace.ts';
import { savedSearches } from '../state/saved-searches.ts';
import { DESTINATIONS } from './navigation.tsx';

const isOpen = signal(false);
const MAX_SHOWN = 9;

export function openPalette(): void {
  isOpen.value = true;
}

interface Choice {
  label: string;
  kind: string;
  to: string;
}

function choicesFor(text: string): Choice[] {
  const current = namespace.value;
  const wanted = text.trim().toLowerCase();
  const all: Choice[] = [
    ...DESTINATIONS.map(({ label, to }) => ({ label, kind: 'view', to: to(current) })),
    { label: 'Tour of the example', kind: 'view', to: paths.tour(current) },
    { label: 'Wall view', kind: 'view', to: `${paths.events(current)}?view=wall` },
    ...savedSearches.value.map(({ name, to }) => ({ label: name, kind: 'saved search', to })),
    ...namespaces.value.map((name) => ({ label: name, kind: 'namespace', to: paths.home(name) })),
  ];
  const found = all.filter(({ label }) => label.toLowerCase().includes(wanted));
  const search = {
    label: `Events with “${text.trim()}”`,
    kind: 'search',
    to: `${paths.events(current)}?status=all&q=${encodeURIComponent(text.trim())}`,
  };
  const entities = {
    label: `Entities with “${text.trim()}”`,
    kind: 'search',
    to: `${paths.entities(current)}?q=${encodeURIComponent(text.trim())}`,
  };
  return [...found, ...(wanted === '' ? [] : [search, entities])].slice(0, MAX_SHOWN);
}

/** Opens a view, a namespace or a search whose name contains the typed letters. */
export function Palette() {
  const [text, setText] = useState('');
  const [position, setPosition] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const choices = choicesFor(text);
  const close = (): void => {
    isOpen.value = false;
    setText('');
    setPosition(0);
  };
  const go = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    close();
    navigate(choice.to);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setPosition((position + step + choices.length) % Math.max(1, choices.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      go(choices[position]);
    }
  };
  return (
    <Dialog title="Go to" isOpen={isOpen.value} onClose={close} initialFocus={field}>
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label="View, namespace or search"
        aria-expanded="true"
        aria-controls="palette-choices"
        aria-activedescendant={`palette-${position}`}
        autoComplete="off"
        value={text}
        placeholder="events, silences, default, web-1 …"
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setPosition(0);
        }}
        onKeyDown={onKey}
      />
      <ul id="palette-choices" class="palette" role="listbox" aria-label="Choices">
        {choices.map((choice, index) => (
          <li
            key={`${choice.kind} ${choice.label}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === position}
            onClick={() => go(choice)}
          >
            <span>{choice.label}</span>
            <span class="muted">{choice.kind}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
