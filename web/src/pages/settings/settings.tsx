import { get } from '../../api/client.ts';
import { Loading } from '../../components/states.tsx';
import { settings, changeSettings, type Settings } from '../../state/settings.ts';
import { useLoaded } from '../../state/resource.ts';
import { BackendSummary, Fact, useBackend } from '../home/backend-card.tsx';
import { ApiKeys } from './api-keys.tsx';

interface Version {
  mon_backend: string;
  sensu_backend: string;
}

const THEMES: readonly (readonly [Settings['theme'], string])[] = [
  ['system', 'Same as the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

export function SettingsPage() {
  const { state } = useBackend();
  const version = useLoaded('version', (signal) => get<Version>('/version', { signal }));
  const { theme, contrast, keys } = settings.value;
  const { data } = state.value;
  return (
    <div class="stack">
      <div class="page-head">
        <h1>Settings</h1>
      </div>
      <div class="columns">
        <section class="card" aria-labelledby="look">
          <header>
            <h2 id="look">This browser</h2>
          </header>
          <form class="form">
            <fieldset>
              <legend>Colours</legend>
              {THEMES.map(([value, text]) => (
                <label key={value} class="check-line">
                  <input
                    type="radio"
                    name="theme"
                    checked={theme === value}
                    onChange={() => changeSettings({ theme: value })}
                  />
                  {text}
                </label>
              ))}
            </fieldset>
            <label class="check-line">
              <input
                type="checkbox"
                checked={contrast === 'high'}
                onChange={({ currentTarget }) =>
                  changeSettings({ contrast: currentTarget.checked ? 'high' : 'normal' })
                }
              />
              High contrast
            </label>
            <label class="check-line">
              <input
                type="checkbox"
                checked={keys}
                onChange={({ currentTarget }) => changeSettings({ keys: currentTarget.checked })}
              />
              Single-key shortcuts
            </label>
          </form>
        </section>
        <section class="card" aria-labelledby="system">
          <header>
            <h2 id="system">Backend</h2>
          </header>
          {data === undefined ? <Loading /> : <BackendSummary health={data} />}
          {data !== undefined && (
            <dl class="facts">
              <Fact name="Version">{data.version}</Fact>
              <Fact name="Compatible with">{version.state.value.data?.sensu_backend ?? ''}</Fact>
              <Fact name="Ledger">{data.ledger_seq.toLocaleString()} entries</Fact>
              <Fact name="Open decisions">{data.open_decisions.used}</Fact>
              <Fact name="Dead letters">{data.dead_letters.used}</Fact>
              <Fact name="Quarantined actors">{data.quarantined}</Fact>
            </dl>
          )}
        </section>
        <ApiKeys />
      </div>
    </div>
  );
}
