import { computed, signal } from '@preact/signals';

/** The address of the page. All state of a view is in it, so that a link shows the same view elsewhere. */
export const url = signal(new URL(window.location.href));
export const path = computed(() => url.value.pathname);
export const query = computed(() => url.value.searchParams);

addEventListener('popstate', () => {
  url.value = new URL(window.location.href);
});

/** Shows another address of this site. `replace` leaves no step in the history. */
export function navigate(to: string, { replace = false } = {}): void {
  const next = new URL(to, window.location.href);
  if (next.href === url.value.href) return;
  if (replace) history.replaceState(null, '', next);
  else history.pushState(null, '', next);
  const isNewPage = next.pathname !== url.value.pathname;
  url.value = next;
  if (isNewPage) scrollTo(0, 0);
}

/** Sets or removes parameters of the current address; `undefined` and the empty text remove. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, { replace = true } = {}): void {
  navigate(withQuery(changes), { replace });
}

/** The current address with other parameters. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const next = new URL(url.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.searchParams.delete(name);
    else next.searchParams.set(name, value);
  }
  return next.pathname + next.search;
}

/** Follows links of this site without loading the page again. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== window.location.origin || link.dataset['external'] !== undefined) return;
    event.preventDefault();
    navigate(link.href);
  });
}
