import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { messageOf } from '../api/problem.ts';
import { type Change, listen } from '../live/feed.ts';

export interface Loaded<T> {
  data: T | undefined;
  /** The message of the last failure; data of an earlier success stays. */
  error: string | undefined;
  isLoading: boolean;
}

export interface Loader<T> {
  state: Signal<Loaded<T>>;
  reload: () => void;
}

/** `show` shows the part that has already been read, before the rest. */
type Load<T> = (signal: AbortSignal, show: (part: T) => void) => Promise<T>;

interface LoadOptions {
  /** Reads again after a change for which this is true. */
  when?: (change: Change) => boolean;
  /** The shortest time between a change and the reading, ms. */
  atMostEveryMs?: number;
  /** Reads again after this time, ms. */
  everyMs?: number;
}

/** Changes within this time lead to one reading. */
const GATHER_MS = 250;

/** Reads data when a component is shown or `key` changes, and again after matching changes in the live feed. */
export function useLoaded<T>(key: string, load: Load<T>, options: LoadOptions = {}): Loader<T> {
  const loader = useMemo(() => makeLoader(load), [key]);
  useEffect(() => {
    loader.reload();
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        loader.reload();
      }, options.atMostEveryMs ?? GATHER_MS);
    };
    const { when, everyMs } = options;
    const stop = listen({
      changed: (changes) => {
        if (when !== undefined && changes.some(when)) soon();
      },
      missed: soon,
    });
    const timer = everyMs === undefined ? undefined : setInterval(loader.reload, everyMs);
    return () => {
      stop();
      clearTimeout(gathering);
      clearInterval(timer);
      loader.cancel();
    };
  }, [loader]);
  return loader;
}

function makeLoader<T>(load: Load<T>): Loader<T> & { cancel: () => void } {
  const state = signal<Loaded<T>>({ data: undefined, error: undefined, isLoading: true });
  let current: AbortController | undefined;
  const run = async (): Promise<void> => {
    current?.abort();
    const own = (current = new AbortController());
    state.value = { ...state.value, isLoading: true };
    try {
      const isFirst = state.value.data === undefined;
      const data = await load(own.signal, (part) => {
        if (isFirst && !own.signal.aborted) state.value = { data: part, error: undefined, isLoading: true };
      });
      if (!own.signal.aborted) state.value = { data, error: undefined, isLoading: false };
    } catch (error) {
      if (!own.signal.aborted) state.value = { ...state.value, error: messageOf(error), isLoading: false };
    }
  };
  return { state, reload: () => void run(), cancel: () => current?.abort() };
}
