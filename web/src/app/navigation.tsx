import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Icon, type IconName } from '../components/icon.tsx';
import { path } from '../routing/location.ts';
import { paths } from '../routing/paths.ts';
import { namespace } from '../state/namespace.ts';

export interface Destination {
  label: string;
  icon: IconName;
  to: (namespace: string) => string;
  /** The key after `g` that leads there. */
  key?: string;
}

const GROUPS: readonly { label: string; items: readonly Destination[] }[] = [
  {
    label: 'Now',
    items: [
      { label: 'Home', icon: 'home', to: paths.home, key: 'h' },
      { label: 'Events', icon: 'events', to: paths.events, key: 'e' },
      { label: 'Entities', icon: 'entities', to: paths.entities, key: 'n' },
      { label: 'Silences', icon: 'silences', to: paths.silences, key: 's' },
      { label: 'Notifications', icon: 'notifications', to: paths.notifications, key: 'o' },
      { label: 'Aggregates', icon: 'aggregates', to: paths.aggregates, key: 'a' },
    ],
  },
  {
    label: 'Configuration',
    items: [
      { label: 'Checks', icon: 'checks', to: paths.checks, key: 'c' },
      { label: 'Handlers', icon: 'handlers', to: paths.handlers, key: 'd' },
      { label: 'Users and roles', icon: 'users', to: paths.users, key: 'u' },
    ],
  },
  {
    label: 'System',
    items: [
      { label: 'Agents', icon: 'agents', to: paths.agents, key: 'i' },
      { label: 'Machines', icon: 'machines', to: paths.machines, key: 'm' },
      { label: 'Ledger', icon: 'ledger', to: () => paths.ledger(), key: 'l' },
      { label: 'Settings', icon: 'settings', to: paths.settings, key: ',' },
    ],
  },
];

export const DESTINATIONS: readonly Destination[] = GROUPS.flatMap(({ items }) => items);

/** Whether the menu is open on a narrow screen. */
export const isMenuOpen = signal(false);

const isCurrent = (target: string): boolean =>
  path.value === target || (path.value.startsWith(`${target}/`) && target !== paths.home(namespace.value));

export function Navigation() {
  useEffect(() => {
    isMenuOpen.value = false;
  }, [path.value]);
  return (
    <nav id="navigation" class={isMenuOpen.value ? 'navigation is-open' : 'navigation'} aria-label="Views">
      {GROUPS.map(({ label, items }) => (
        <section key={label}>
          <h2>{label}</h2>
          <ul>
            {items.map(({ label: name, icon, to }) => {
              const target = to(namespace.value);
              return (
                <li key={name}>
                  <a href={target} aria-current={isCurrent(target) ? 'page' : undefined}>
                    <Icon name={icon} />
                    {name}
                  </a>
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </nav>
  );
}
