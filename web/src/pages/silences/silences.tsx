import { useState } from 'preact/hooks';
import { list, request } from '../../api/client.ts';
import { type Column, Listing } from '../../components/listing.tsx';
import { Ago } from '../../components/time.tsx';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { nowMs } from '../../state/now.ts';
import { notify } from '../../state/notices.ts';
import { useLoaded } from '../../state/resource.ts';
import { forEach } from '../../state/undo.ts';
import { type Silence, silencePath, silencesPath } from './silence.ts';
import { SilenceDialog } from './silence-dialog.tsx';

/** A silence that ends sooner is marked. */
const SOON_S = 600;

function End({ silence: { expire_at: end, expire_on_resolve } }: { silence: Silence }) {
  const isSoon = end > 0 && end - nowMs.value / 1_000 < SOON_S;
  return (
    <span class={isSoon ? 'tone-warning' : ''}>
      {end > 0 ? <Ago at={end} /> : expire_on_resolve ? 'when it passes' : 'never'}
      {end > 0 && expire_on_resolve && <span class="muted"> or when it passes</span>}
    </span>
  );
}

export function SilencesPage({ params: { namespace = '' } }: PageProps) {
  const [isMaking, setMaking] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const loader = useLoaded(
    `silences ${namespace}`,
    async (signal) => (await list<Silence>(silencesPath(namespace), { signal })).items,
    { when: ({ kind }) => kind === 'silence' || kind === 'silenced' },
  );
  const pathOf = ({ metadata: { name } }: Silence): string => silencePath(namespace, name);
  const end = async (silences: readonly Silence[]): Promise<void> => {
    const ended: Silence[] = [];
    await forEach(silences, async (silence) => {
      await request('DELETE', pathOf(silence));
      ended.push(silence);
    });
    setSelected(new Set());
    loader.reload();
    const [first] = ended;
    if (first === undefined) return;
    const undo = (): void => {
      const create = async (silence: Silence): Promise<void> => {
        await request('PUT', pathOf(silence), { body: silence });
      };
      void forEach(ended, create).then(loader.reload);
    };
    const what = ended.length === 1 ? first.metadata.name : `${ended.length} silences`;
    notify(`Ended ${what}`, { action: { label: 'Undo', run: undo } });
  };
  const select = (name: string, isSelected: boolean): void => {
    setSelected(new Set(isSelected ? [...selected, name] : [...selected].filter((one) => one !== name)));
  };
  const chosen = (loader.state.value.data ?? []).filter(({ metadata: { name } }) => selected.has(name));
  const columns: readonly Column<Silence>[] = [
    {
      head: 'Select',
      cell: ({ metadata: { name } }) => (
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={selected.has(name)}
          onChange={({ currentTarget: { checked } }) => {
            select(name, checked);
          }}
        />
      ),
      width: '4rem',
    },
    {
      head: 'What',
      cell: ({ metadata: { name }, subscription, check }) => (
        <>
          <a href={paths.resource(namespace, 'silenced', name)}>{check ?? 'every check'}</a>{' '}
          <span class="muted">
            {subscription === undefined ? 'on every entity' : `on ${subscription.replace(/^entity:/, '')}`}
          </span>
        </>
      ),
      sort: ({ metadata: { name } }) => name,
      width: '28%',
    },
    {
      head: 'Reason',
      cell: ({ reason }) => (reason === undefined || reason === '' ? <span class="muted">none given</span> : reason),
      sort: ({ reason = '' }) => reason,
    },
    { head: 'By', cell: ({ creator = '' }) => creator, sort: ({ creator = '' }) => creator, width: '8rem' },
    {
      head: 'Start',
      cell: ({ begin }) => <Ago at={begin} />,
      sort: ({ begin }) => begin,
      width: '8rem',
      isDescending: true,
    },
    {
      head: 'End',
      cell: (silence) => <End silence={silence} />,
      sort: ({ expire_at: at }) => at || Infinity,
      width: '11rem',
    },
    {
      head: 'Action',
      cell: (silence) => (
        <button type="button" aria-label={`End ${silence.metadata.name}`} onClick={() => void end([silence])}>
          End
        </button>
      ),
      width: '5rem',
    },
  ];
  return (
    <>
      <Listing
        title="Silences"
        noun="silences"
        loader={loader}
        columns={columns}
        keyOf={({ metadata: { name } }) => name}
        hrefOf={({ metadata: { name } }) => paths.resource(namespace, 'silenced', name)}
        keys={{ x: ({ metadata: { name } }) => select(name, !selected.has(name)), '#': (one) => void end([one]) }}
        textOf={({ metadata: { name }, reason, creator }) => `${name} ${reason ?? ''} ${creator ?? ''}`}
        actions={
          <>
            {chosen.length > 0 && (
              <button type="button" onClick={() => void end(chosen)}>
                End {chosen.length} selected
              </button>
            )}
            <button type="button" class="button-primary" onClick={() => setMaking(true)}>
              New silence
            </button>
          </>
        }
      />
      {isMaking && (
        <SilenceDialog namespace={namespace} events={[]} onClose={() => setMaking(false)} onDone={loader.reload} />
      )}
    </>
  );
}
