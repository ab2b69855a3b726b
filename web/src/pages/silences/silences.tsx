import { useState } from 'preact/hooks';
import { list, request } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { type Column, Listing } from '../../components/listing.tsx';
import { Ago } from '../../components/time.tsx';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { nowMs } from '../../state/now.ts';
import { notify } from '../../state/notices.ts';
import { useLoaded } from '../../state/resource.ts';
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
  const loader = useLoaded(
    `silences ${namespace}`,
    async (signal) => (await list<Silence>(silencesPath(namespace), { signal })).items,
    { when: ({ kind }) => kind === 'silence' || kind === 'silenced' },
  );
  const end = async (silence: Silence): Promise<void> => {
    const path = silencePath(namespace, silence.metadata.name);
    try {
      await request('DELETE', path);
      loader.reload();
      const undo = (): void => {
        request('PUT', path, { body: silence }).then(loader.reload, (error: unknown) =>
          notify(messageOf(error), { tone: 'error' }),
        );
      };
      notify(`Ended ${silence.metadata.name}`, { action: { label: 'Undo', run: undo } });
    } catch (error) {
      notify(messageOf(error), { tone: 'error' });
    }
  };
  const columns: readonly Column<Silence>[] = [
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
      width: '30%',
    },
    {
      head: 'Reason',
      cell: ({ reason }) => (reason === undefined || reason === '' ? <span class="muted">none given</span> : reason),
      sort: ({ reason = '' }) => reason,
    },
    { head: 'By', cell: ({ creator = '' }) => creator, sort: ({ creator = '' }) => creator, width: '8rem' },
    {
      head: 'Begin',
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
        <button type="button" aria-label={`End ${silence.metadata.name}`} onClick={() => void end(silence)}>
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
        textOf={({ metadata: { name }, reason, creator }) => `${name} ${reason ?? ''} ${creator ?? ''}`}
        actions={
          <button type="button" class="button-primary" onClick={() => setMaking(true)}>
            New silence
          </button>
        }
      />
      {isMaking && (
        <SilenceDialog namespace={namespace} events={[]} onClose={() => setMaking(false)} onDone={loader.reload} />
      )}
    </>
  );
}
