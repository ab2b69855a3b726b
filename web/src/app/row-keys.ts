import { useState } from 'preact/hooks';
import { useKeys } from './keyboard.ts';

export interface RowKeysOptions<K> {
  /** The keys of the rows, in their order. */
  keys: readonly K[];
  open: (key: K) => void;
  /** What further keys do with the current row. */
  actions?: Readonly<Record<string, (key: K) => void>>;
}

/** Whether `Enter` already does something where the focus is. */
const takesEnter = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, summary') !== null;

/** The row that the keyboard is at: `j` and `k` move it, `Enter` opens it. */
export function useRowKeys<K>({ keys, open, actions = {} }: RowKeysOptions<K>): K | undefined {
  const [chosen, setChosen] = useState<K | undefined>(undefined);
  const at = chosen === undefined ? -1 : keys.indexOf(chosen);
  const current = at < 0 ? undefined : chosen;
  const step = (by: number): void => setChosen(keys[Math.max(0, Math.min(keys.length - 1, at + by))]);
  const acting = Object.entries(actions).map(([name, act]) => [
    name,
    (event: KeyboardEvent): void => {
      if (current === undefined) return;
      event.preventDefault();
      act(current);
    },
  ]);
  useKeys({
    ...(Object.fromEntries(acting) as Record<string, (event: KeyboardEvent) => void>),
    j: () => step(1),
    k: () => step(at < 0 ? 1 : -1),
    Enter: (event) => {
      if (current !== undefined && !takesEnter(event.target)) open(current);
    },
  });
  return current;
}
