import { useEffect, useRef, useState } from 'preact/hooks';
import { setQuery } from '../routing/location.ts';

/** Typing changes the address after this pause. */
const TYPING_MS = 40;

/** The search of a list: the parameter `q` of the address. */
export function SearchField({ label, value }: { label: string; value: string }) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // The address must not overwrite what the user has typed since.
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  const change = (next: string): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = next.trim();
      setQuery({ q: next.trim() });
    }, TYPING_MS);
  };
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={`${label}  ( / )`}
      value={text}
      onInput={({ currentTarget }) => change(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // The browser would clear the field.
        event.preventDefault();
        event.currentTarget.blur();
      }}
    />
  );
}
