import { useLayoutEffect, useRef } from 'preact/hooks';
import { navigate } from '../routing/location.ts';
import { namespace } from '../state/namespace.ts';
import { notices, closeNotice } from '../state/notices.ts';
import { settings } from '../state/settings.ts';
import { isLoggedIn } from '../api/session.ts';
import { openHelp } from './help.tsx';
import { DESTINATIONS } from './navigation.tsx';
import { openPalette } from './palette.tsx';
import { paths } from '../routing/paths.ts';

const SEQUENCE_MS = 1_200;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

/** The shortcuts of all views, which work from the first paint on. Views add their own with `useKeys`. */
export function useShortcuts(): void {
  useLayoutEffect(() => {
    let gAtMs = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (!isLoggedIn()) return;
      if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.ctrlKey && event.key === '.') {
        event.preventDefault();
        navigate(paths.settings());
        return;
      }
      if (!isFree(event)) return;
      const isSecond = event.timeStamp - gAtMs < SEQUENCE_MS;
      gAtMs = event.key === 'g' ? event.timeStamp : -Infinity;
      if (isSecond) {
        const destination = DESTINATIONS.find(({ key }) => key === event.key);
        if (destination === undefined) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        navigate(destination.to(namespace.value));
      } else if (event.key === '?') openHelp();
      else if (event.key === '/') focusSearch(event);
      else if (event.key === 'u') undoLast();
    };
    // Before the keys of views, so that `g e` does not also press their `e`.
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
}

/** Whether a key may be a shortcut now. */
function isFree(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, target } = event;
  return settings.value.keys && !ctrlKey && !metaKey && !altKey && !isTyping(target) && !isDialogOpen();
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLInputElement>('input[type=search]');
  if (search === null) return;
  event.preventDefault();
  search.focus();
  search.select();
}

function undoLast(): void {
  const last = notices.value.findLast(({ action }) => action?.label === 'Undo');
  if (last === undefined) return;
  last.action?.run();
  closeNotice(last.id);
}

/** Keys of one view, by `KeyboardEvent.key`. The latest functions are used. */
export function useKeys(keys: Readonly<Record<string, (event: KeyboardEvent) => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || !isFree(event)) return;
      latest.current[event.key]?.(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
