import { signal } from '@preact/signals';
import { request } from '../api/client.ts';
import { messageOf } from '../api/problem.ts';
import { notify } from './notices.ts';
import type { Loaded } from './resource.ts';

/** A write waits this long, so that it can be undone. */
const UNDO_MS = 5_000;
/** Writes under way at once. */
const AT_ONCE = 6;
/** Lists are read again within this time after a deletion, and do not show the deleted rows meanwhile. */
const READ_AGAIN_MS = 4_000;

/** Performs an action on each item, a few at a time, and reports the failures. Returns how many succeeded. */
export async function forEach<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<number> {
  const failures: string[] = [];
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await act(item);
      } catch (error) {
        failures.push(messageOf(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const [first] = failures;
  if (first !== undefined) notify(`${failures.length} of ${items.length} failed: ${first}`, { tone: 'error' });
  return items.length - failures.length;
}

/** Runs `act` after some seconds, or when the page is left, unless the user undoes it. */
export function undoable(text: string, act: () => void, undone: () => void): void {
  let isOver = false;
  const finish = (run: () => void): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    removeEventListener('pagehide', leave);
    run();
  };
  const leave = (): void => finish(act);
  const timer = setTimeout(leave, UNDO_MS);
  addEventListener('pagehide', leave);
  notify(text, { forMs: UNDO_MS, action: { label: 'Undo', run: () => finish(undone) } });
}

const deleted = signal<ReadonlySet<string>>(new Set());

/** Whether lists must leave out a resource, because the user deleted it. `path` is its path in the API. */
export const isDeleted = (path: string): boolean => deleted.value.has(path);

/** What was read of a list, without what the user deleted. */
export function withoutDeleted<T>(
  loaded: Loaded<readonly T[]>,
  pathOf: ((item: T) => string) | undefined,
): Loaded<readonly T[]> {
  const { data } = loaded;
  if (data === undefined || pathOf === undefined || deleted.value.size === 0) return loaded;
  return { ...loaded, data: data.filter((item) => !isDeleted(pathOf(item))) };
}

function mark(paths: readonly string[], areDeleted: boolean): void {
  const next = new Set(deleted.peek());
  for (const path of paths) {
    if (areDeleted) next.add(path);
    else next.delete(path);
  }
  deleted.value = next;
}

interface Deletion {
  /** What the user reads, in the past tense. */
  text: string;
  undone?: () => void;
  done?: () => void;
}

/** Deletes resources by their paths in the API, unless the user undoes it. Lists leave them out at once. */
export function deleteLater(paths: readonly string[], { text, undone, done }: Deletion): void {
  mark(paths, true);
  const act = (): void => {
    void forEach(paths, async (path) => {
      try {
        await request('DELETE', path, { keepalive: true });
      } catch (error) {
        mark([path], false);
        throw error;
      }
    }).then(() => {
      setTimeout(mark, READ_AGAIN_MS, paths, false);
      done?.();
    });
  };
  undoable(text, act, () => {
    mark(paths, false);
    undone?.();
  });
}
