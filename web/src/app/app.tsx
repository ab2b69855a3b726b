import { useEffect } from 'preact/hooks';
import { isLoggedIn } from '../api/session.ts';
import { startFeed, stopFeed } from '../live/feed.ts';
import { path, query, navigate } from '../routing/location.ts';
import { paths } from '../routing/paths.ts';
import { readNamespaces } from '../state/namespace.ts';
import { notify } from '../state/notices.ts';
import { messageOf } from '../api/problem.ts';
import { settings } from '../state/settings.ts';
import { Header } from './header.tsx';
import { Help } from './help.tsx';
import { useShortcuts } from './keyboard.ts';
import { LoginPage } from './login.tsx';
import { Navigation } from './navigation.tsx';
import { Notices } from './notices.tsx';
import { Outlet } from './outlet.tsx';
import { Palette } from './palette.tsx';

/** The whole page: the login, or the view of the address within its frame. */
export function App() {
  const isKnown = isLoggedIn();
  useEffect(() => {
    if (!isKnown) return stopFeed;
    startFeed();
    readNamespaces().catch((error: unknown) => notify(messageOf(error), { tone: 'error' }));
    return undefined;
  }, [isKnown]);
  useShortcuts();
  if (!isKnown) return <LoginPage />;
  if (path.value === '/') {
    navigate(paths.home(settings.peek().namespace), { replace: true });
    return null;
  }
  const isWall = query.value.get('view') === 'wall';
  return (
    <div class={isWall ? 'shell shell-wall' : 'shell'}>
      <a class="skip" href="#main" data-external>
        Skip to the content
      </a>
      {!isWall && <Header />}
      {!isWall && <Navigation />}
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Notices />
      <Help />
      <Palette />
    </div>
  );
}
