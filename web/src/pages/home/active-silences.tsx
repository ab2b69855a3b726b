import { list } from '../../api/client.ts';
import { Ago } from '../../components/time.tsx';
import { paths } from '../../routing/paths.ts';
import { nowMs } from '../../state/now.ts';
import { useLoaded } from '../../state/resource.ts';
import { type Silence, silencesPath } from '../silences/silence.ts';

const SHOWN = 8;
/** A silence that ends sooner is marked. */
const SOON_S = 600;

export function ActiveSilences({ namespace }: { namespace: string }) {
  const { state } = useLoaded(`silences ${namespace}`, () => list<Silence>(silencesPath(namespace)), {
    when: ({ kind }) => kind === 'silence' || kind === 'silenced',
  });
  const { data, error } = state.value;
  const nowS = nowMs.value / 1_000;
  const active = (data?.items ?? []).filter(({ begin, expire_at: end }) => begin <= nowS && (end === 0 || end >= nowS));
  return (
    <section class="card" aria-labelledby="silences">
      <header>
        <h2 id="silences">Silences</h2>
        <a href={paths.silences(namespace)}>All silences</a>
      </header>
      {error !== undefined && <p class="error-text">{error}</p>}
      {active.length === 0 ? (
        <p class="muted">Nothing is silenced.</p>
      ) : (
        <ul class="plain-list">
          {active.slice(0, SHOWN).map(({ metadata: { name }, creator, reason, expire_at: end, expire_on_resolve }) => (
            <li key={name}>
              <a href={paths.silences(namespace) + `?q=${encodeURIComponent(name)}`}>{name}</a>
              <span class="muted">{[creator, reason].filter(Boolean).join(': ')}</span>
              <span class={end > 0 && end - nowS < SOON_S ? 'nowrap tone-warning' : 'nowrap muted'}>
                {end > 0 ? <Ago at={end} prefix="ends " /> : expire_on_resolve ? 'until resolved' : 'no end'}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
