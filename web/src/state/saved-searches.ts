import { signal } from '@preact/signals';

/** A view of a list that a user named in this browser. */
export interface SavedSearch {
  name: string;
  /** The path and the query of its address. */
  to: string;
}

export const MAX_SAVED = 50;
const KEY = 'mon.searches';

const isSearch = (value: unknown): value is SavedSearch => {
  const { name, to } = (value ?? {}) as Partial<SavedSearch>;
  // Only an address of this page may become a link.
  return typeof name === 'string' && typeof to === 'string' && /^\/(?!\/)/.test(to);
};

/** Reads the stored searches. Anything that is not a saved search is left out. */
export function parseSearches(text: string | null): SavedSearch[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter(isSearch).slice(0, MAX_SAVED) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** The list with a search under a name, which replaces one of the same name; sorted by name. */
export const withSearch = (all: readonly SavedSearch[], search: SavedSearch): SavedSearch[] =>
  [...all.filter(({ name }) => name !== search.name), search]
    .sort((one, other) => one.name.localeCompare(other.name))
    .slice(0, MAX_SAVED);

export const savedSearches = signal<readonly SavedSearch[]>(
  typeof localStorage === 'undefined' ? [] : parseSearches(localStorage.getItem(KEY)),
);

function store(searches: readonly SavedSearch[]): void {
  savedSearches.value = searches;
  localStorage.setItem(KEY, JSON.stringify(searches));
}

export function saveSearch(name: string, to: string): void {
  if (name !== '') store(withSearch(savedSearches.peek(), { name, to }));
}

export function forgetSearch(name: string): void {
  store(savedSearches.peek().filter((one) => one.name !== name));
}
