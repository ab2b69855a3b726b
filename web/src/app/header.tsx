import { logOut, username } from '../api/session.ts';
import { messageOf } from '../api/problem.ts';
import { Icon } from '../components/icon.tsx';
import { Menu } from '../components/menu.tsx';
import { navigate, path } from '../routing/location.ts';
import { paths } from '../routing/paths.ts';
import { namespace, namespaces } from '../state/namespace.ts';
import { notify } from '../state/notices.ts';
import { openHelp } from './help.tsx';
import { LiveMark } from './live-mark.tsx';
import { isMenuOpen } from './navigation.tsx';
import { openPalette } from './palette.tsx';

/** The same view of another namespace, or its home. */
function inNamespace(name: string): string {
  const [, , , view] = path.value.split('/');
  return view === undefined || !path.value.startsWith('/n/') ? paths.home(name) : `${paths.home(name)}/${view}`;
}

function leave(): void {
  logOut().catch((error: unknown) => notify(messageOf(error), { tone: 'error' }));
}

export function Header() {
  const current = namespace.value;
  const names = namespaces.value.includes(current) ? namespaces.value : [current, ...namespaces.value];
  return (
    <header class="header">
      <button
        type="button"
        class="button-plain menu-button"
        aria-label="Menu"
        aria-expanded={isMenuOpen.value}
        aria-controls="navigation"
        onClick={() => {
          isMenuOpen.value = !isMenuOpen.value;
        }}
      >
        <Icon name="menu" />
      </button>
      <a class="brand" aria-label="mon, home" href={paths.home(current)}>
        <img src="/icon.svg" alt="" width="24" height="24" />
        <span>mon</span>
      </a>
      <label class="namespace-choice">
        <span class="sr-only">Namespace</span>
        <select
          value={current}
          onChange={({ currentTarget }) => {
            navigate(inNamespace(currentTarget.value));
          }}
        >
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="palette-button" onClick={openPalette}>
        <Icon name="search" />
        <span>Go to …</span>
        <kbd>Ctrl K</kbd>
      </button>
      <LiveMark />
      <Menu label="Account" icon="user" text={username()}>
        <a href={paths.settings()}>Settings</a>
        <a href={paths.tour(current)}>Tour of the example</a>
        <button type="button" onClick={openHelp}>
          Keyboard help
        </button>
        <a href="/docs" data-external>
          REST API
        </a>
        <button type="button" onClick={leave}>
          Log out
        </button>
      </Menu>
    </header>
  );
}
