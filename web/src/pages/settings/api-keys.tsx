import { useState } from 'preact/hooks';
import { at, CORE, listAll, request } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { username } from '../../api/session.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Ago } from '../../components/time.tsx';
import { notify } from '../../state/notices.ts';
import { useLoaded } from '../../state/resource.ts';
import { deleteLater, isDeleted } from '../../state/undo.ts';

interface ApiKey {
  metadata: { name: string };
  username: string;
  created_at: number;
}

const keyPath = (name: string): string => `${CORE}${at`/apikeys/${name}`}`;

/** Keys of programs. A key is shown once. */
export function ApiKeys() {
  const [user, setUser] = useState(username());
  const [made, setMade] = useState<string | undefined>(undefined);
  const loader = useLoaded('apikeys', (signal) => listAll<ApiKey>(`${CORE}/apikeys`, { signal }), {
    when: ({ kind }) => kind === 'apikeys',
  });
  const { data, error } = loader.state.value;
  const make = async (): Promise<void> => {
    try {
      const { headers } = await request('POST', `${CORE}/apikeys`, { body: { username: user } });
      setMade(headers.get('Location')?.split('/').at(-1));
      loader.reload();
    } catch (problem) {
      notify(messageOf(problem), { tone: 'error' });
    }
  };
  const keys = (data ?? []).filter(({ metadata: { name } }) => !isDeleted(keyPath(name)));
  return (
    <section class="card" aria-labelledby="keys">
      <header>
        <h2 id="keys">API keys</h2>
      </header>
      {error !== undefined && <p class="error-text">{error}</p>}
      {made !== undefined && (
        <p class="made-key" role="status">
          <code>{made}</code> <CopyButton text={made} /> <strong>It is not shown again.</strong>
        </p>
      )}
      <ul class="plain-list">
        {keys.map(({ metadata: { name }, username: owner, created_at: created }) => (
          <li key={name}>
            <strong>{owner}</strong>
            <code class="muted">{name.slice(0, 8)}…</code>
            <span class="muted">
              <Ago at={created} />
            </span>
            <button
              type="button"
              class="button-danger"
              aria-label={`Revoke the key of ${owner}`}
              onClick={() => {
                deleteLater([keyPath(name)], { text: `Revoked the key of ${owner}`, done: loader.reload });
              }}
            >
              Revoke
            </button>
          </li>
        ))}
        {data !== undefined && keys.length === 0 && <li class="muted">No key.</li>}
      </ul>
      <form
        class="key-form"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <label>
          <span class="sr-only">User of the new key</span>
          <input value={user} onInput={({ currentTarget }) => setUser(currentTarget.value)} />
        </label>
        <button type="submit">New key</button>
      </form>
    </section>
  );
}
