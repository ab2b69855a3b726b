import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { searchOf } from '../api/client.ts';
import { isLoggedIn } from '../api/session.ts';
import { LoginPage } from '../app/login.tsx';
import { navigate, query } from '../routing/location.ts';
import '../styles/index.ts';
import { ActorPicker } from './actor-picker.tsx';
import { connectInspector, INSPECT_PATH } from './inspect-socket.ts';
import './inspect.css';

/** The only other origin that the policy of this page allows, and only in a frame. */
const HOSTED = 'https://stately.ai';
const HOSTED_PAGE = `${HOSTED}/inspect`;

/** `/debug/inspect`: passes the messages of chosen actors to the hosted inspector. */
function BridgePage() {
  const actors = query.value.getAll('actor');
  const [isLoaded, setLoaded] = useState(false);
  if (!isLoggedIn()) return <LoginPage />;
  return (
    <main class="bridge" id="main">
      <div class="page-head">
        <h1>Hosted inspector</h1>
        <div class="actions">
          <a class="button" href={`/inspect${searchOf({ actor: actors })}`}>
            Show these actors in the dashboard instead
          </a>
        </div>
      </div>
      <section class="card">
        <p>
          This is the only page of mon that loads something from another host. It shows <code>{HOSTED_PAGE}</code> in a
          frame and sends it the events and snapshots of the actors below, as they are committed, with secrets redacted.
          Nothing is loaded or sent before you press the button.
        </p>
        <ActorPicker actors={actors} onChange={(actor) => navigate(INSPECT_PATH + searchOf({ actor }))} />
        {isLoaded ? (
          <Bridge key={actors.join(' ')} actors={actors} />
        ) : (
          <p>
            <button type="button" class="button-primary" disabled={actors.length === 0} onClick={() => setLoaded(true)}>
              Load {HOSTED_PAGE} and send it these actors
            </button>
          </p>
        )}
      </section>
    </main>
  );
}

function Bridge({ actors }: { actors: readonly string[] }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [given, setGiven] = useState(0);
  useEffect(() => {
    const listener = ({ origin, source, data }: MessageEvent<{ type?: string } | null>): void => {
      const isFrame = origin === HOSTED && source === frame.current?.contentWindow;
      if (isFrame && data?.type === '@statelyai.connected') setReady(true);
    };
    addEventListener('message', listener);
    return () => removeEventListener('message', listener);
  }, []);
  useEffect(() => {
    if (!isReady || actors.length === 0) return undefined;
    const give = (message: object): void => frame.current?.contentWindow?.postMessage(message, HOSTED);
    const stop = connectInspector(actors, query.peek().get('since') ?? undefined, {
      message: (message) => {
        give(message);
        setGiven((count) => count + 1);
      },
      problem: setProblem,
    });
    return () => {
      stop();
      give({ type: '@statelyai.disconnected' });
    };
  }, [isReady]);
  return (
    <>
      <p class="muted" role="status">
        {problem ?? (isReady ? `${given} messages given` : 'Waiting for the hosted inspector')}
      </p>
      <iframe
        ref={frame}
        class="bridge-frame"
        title="Hosted inspector"
        src={HOSTED_PAGE}
        sandbox="allow-scripts allow-same-origin"
        referrerpolicy="no-referrer"
      />
    </>
  );
}

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no element with the id app');
render(<BridgePage />, root);
