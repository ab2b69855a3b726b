import { signal } from '@preact/signals';
import { Dialog } from '../components/dialog.tsx';
import { paths } from '../routing/paths.ts';
import { DESTINATIONS } from './navigation.tsx';

const isOpen = signal(false);

export function openHelp(): void {
  isOpen.value = true;
}

const KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  ['/', 'Search in the list'],
  ['j  k', 'Next row, previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['a', 'Show all events, or only problems'],
  ['s', 'Silence'],
  ['r', 'Resolve'],
  ['e', 'Run the check again'],
  ['#', 'Delete'],
  ['u', 'Undo'],
  ['Ctrl K', 'Go to a view or a namespace'],
  ['Ctrl .', 'Settings and system information'],
  ['?', 'This help'],
];

export function Help() {
  return (
    <Dialog
      title="Keyboard"
      isOpen={isOpen.value}
      onClose={() => {
        isOpen.value = false;
      }}
    >
      <dl class="keys">
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
        {DESTINATIONS.map(({ label, key }) => (
          <div key={label}>
            <dt>
              <kbd>g</kbd>
              <kbd>{key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">
        Single keys do nothing in text fields. They can be switched off in the <a href={paths.settings()}>settings</a>.
      </p>
    </Dialog>
  );
}
