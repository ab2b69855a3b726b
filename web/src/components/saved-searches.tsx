import { useState } from 'preact/hooks';
import { namespace } from '../state/namespace.ts';
import { url } from '../routing/location.ts';
import { forgetSearch, MAX_SAVED, saveSearch, savedSearches } from '../state/saved-searches.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';

/** Saves the current view of a list under a name, and links to the saved ones. */
export function SavedSearches() {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const saved = savedSearches.value;
  const current = url.value.pathname + url.value.search;
  const known = saved.find(({ to }) => to === current);
  const isFull = saved.length >= MAX_SAVED && !saved.some((one) => one.name === name.trim());
  return (
    <>
      <button
        type="button"
        class={known === undefined ? 'saved-button' : 'saved-button is-saved'}
        aria-label="Saved searches"
        title={known === undefined ? 'Saved searches' : `Saved searches: this is ${known.name}`}
        onClick={() => setOpen(true)}
      >
        <Icon name="saved" />
      </button>
      <Dialog title="Saved searches" isOpen={isOpen} onClose={() => setOpen(false)}>
        {saved.length === 0 ? (
          <p class="muted">No search is saved in this browser yet.</p>
        ) : (
          <ul class="plain-list" data-saved>
            {saved.map(({ name: one, to }) => (
              <li key={one}>
                <a href={to} aria-current={to === current ? 'page' : undefined} onClick={() => setOpen(false)}>
                  {one}
                </a>
                <span class="muted">{viewOf(to)}</span>
                <button type="button" aria-label={`Forget ${one}`} onClick={() => forgetSearch(one)}>
                  Forget
                </button>
              </li>
            ))}
          </ul>
        )}
        <form
          class="key-form"
          onSubmit={(event) => {
            event.preventDefault();
            saveSearch(name.trim(), current);
            setName('');
          }}
        >
          <label>
            <span class="sr-only">Name of this search</span>
            <input
              value={name}
              placeholder={known?.name ?? 'Name of this search'}
              maxLength={60}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
          <button type="submit" class="button-primary" disabled={name.trim() === '' || isFull}>
            Save this search
          </button>
        </form>
        <p class="muted">
          {isFull
            ? `At most ${MAX_SAVED} searches are saved.`
            : 'Searches are saved in this browser. The address of a list is a link that shows the same list anywhere.'}
        </p>
      </Dialog>
    </>
  );
}

/** The list of an address, such as `events`, with its namespace where it is another one. */
function viewOf(to: string): string {
  const [, first = '', name = '', view = first] = to.split(/[/?]/);
  if (first !== 'n') return first;
  return decodeURIComponent(name) === namespace.value ? view : `${view} of ${decodeURIComponent(name)}`;
}
