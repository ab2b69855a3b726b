import { at, CORE, listAll } from '../../api/client.ts';
import { type Column, Listing } from '../../components/listing.tsx';
import { query, withQuery } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';

interface Resource {
  metadata: { name: string };
  type?: string;
  command?: string;
  filters?: readonly string[] | null;
  mutator?: string;
  handlers?: readonly string[] | null;
  socket?: { host: string; port: number };
  action?: string;
  expressions?: readonly string[];
  workflows?: readonly { name: string; handler?: { name: string } }[];
  url?: string;
}

const KINDS = [
  ['handlers', 'Handlers'],
  ['filters', 'Filters'],
  ['mutators', 'Mutators'],
  ['pipelines', 'Pipelines'],
  ['hooks', 'Hooks'],
  ['assets', 'Assets'],
] as const;

/** What a resource does, in one line. */
function effectOf({ command, socket, handlers, action, expressions, workflows, url }: Resource): string {
  if (expressions !== undefined) return `${action ?? ''} ${expressions.join(' and ')}`;
  if (workflows !== undefined)
    return workflows.map(({ name, handler }) => `${name} → ${handler?.name ?? 'nothing'}`).join(', ');
  if (socket !== undefined) return `${socket.host}:${socket.port}`;
  if (command !== undefined && command !== '') return command;
  return url ?? (handlers ?? []).join(', ');
}

/** What is done with events: handlers, filters, mutators, pipelines; and hooks and assets. */
export function HandlersPage({ params: { namespace = '' } }: PageProps) {
  const kind = KINDS.find(([name]) => name === query.value.get('kind'))?.[0] ?? 'handlers';
  const title = KINDS.find(([name]) => name === kind)?.[1] ?? '';
  const path = `${CORE}${at`/namespaces/${namespace}/${kind}`}`;
  const loader = useLoaded(`${kind} ${namespace}`, (signal) => listAll<Resource>(path, { signal }), {
    when: (change) => change.kind === kind,
  });
  const columns: readonly Column<Resource>[] = [
    {
      head: 'Name',
      cell: ({ metadata: { name } }) => <a href={paths.resource(namespace, kind, name)}>{name}</a>,
      sort: ({ metadata: { name } }) => name,
      width: '22%',
    },
    { head: 'Type', cell: ({ type, action }) => type ?? action ?? '', sort: ({ type = '' }) => type, width: '6rem' },
    { head: 'Does', cell: (one) => <code class="muted">{effectOf(one)}</code> },
    {
      head: 'Filters',
      cell: ({ filters }) => (filters ?? []).join(', '),
      sort: ({ filters }) => (filters ?? []).join(' '),
      width: '16rem',
    },
    {
      head: 'Notified',
      cell: ({ metadata: { name } }) =>
        kind === 'handlers' ? (
          <a href={`${paths.notifications(namespace)}?handler=${encodeURIComponent(name)}`}>outcomes</a>
        ) : (
          ''
        ),
      width: '8rem',
    },
  ];
  return (
    <>
      <nav class="tabs" aria-label="Kinds">
        {KINDS.map(([name, label]) => (
          <a
            key={name}
            href={withQuery({ kind: name === 'handlers' ? '' : name, q: '', sort: '' })}
            aria-current={name === kind ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <Listing
        title={title}
        noun={kind}
        loader={loader}
        columns={columns}
        keyOf={({ metadata: { name } }) => name}
        pathOf={({ metadata: { name } }) => `${path}/${encodeURIComponent(name)}`}
        hrefOf={({ metadata: { name } }) => paths.resource(namespace, kind, name)}
        textOf={(one) => `${one.metadata.name} ${one.type ?? ''} ${effectOf(one)} ${(one.filters ?? []).join(' ')}`}
        actions={
          <a class="button" href={paths.resource(namespace, kind, 'new')}>
            New
          </a>
        }
      />
    </>
  );
}
