import { at, CORE, get, listAll } from '../../api/client.ts';
import { type Column, Listing } from '../../components/listing.tsx';
import { query, withQuery } from '../../routing/location.ts';
import { paths } from '../../routing/paths.ts';
import { namespace } from '../../state/namespace.ts';
import { useLoaded } from '../../state/resource.ts';

interface User {
  username: string;
  groups?: readonly string[] | null;
  disabled: boolean;
}

interface Role {
  metadata: { name: string; namespace?: string };
  rules: readonly {
    verbs: readonly string[];
    resources: readonly string[];
    resource_names?: readonly string[] | null;
  }[];
}

interface Binding {
  metadata: { name: string; namespace?: string };
  subjects: readonly { type: string; name: string }[];
  role_ref: { type: string; name: string };
}

const TABS = [
  ['users', 'Users'],
  ['roles', 'Roles'],
  ['bindings', 'Bindings'],
] as const;

/** Who may do what. The page is read-only. */
export function UsersPage() {
  const tab = TABS.find(([name]) => name === query.value.get('show'))?.[0] ?? 'users';
  return (
    <>
      <nav class="tabs" aria-label="Kinds">
        {TABS.map(([name, label]) => (
          <a
            key={name}
            href={withQuery({ show: name === 'users' ? '' : name, q: '', sort: '' })}
            aria-current={name === tab ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      {tab === 'users' && <Users />}
      {tab === 'roles' && <Roles />}
      {tab === 'bindings' && <Bindings />}
    </>
  );
}

const USER_COLUMNS: readonly Column<User>[] = [
  { head: 'User', cell: ({ username }) => <strong>{username}</strong>, sort: ({ username }) => username, width: '30%' },
  {
    head: 'Groups',
    cell: ({ groups }) => (groups ?? []).join(', ') || <span class="muted">none</span>,
    sort: ({ groups }) => (groups ?? []).join(' '),
  },
  {
    head: 'State',
    cell: ({ disabled }) => (disabled ? <span class="tone-warning">disabled</span> : 'may log in'),
    sort: ({ disabled }) => String(disabled),
  },
  { head: 'Ledger', cell: ({ username }) => <a href={paths.ledger({ user: username })}>changes by this user</a> },
];

function Users() {
  const loader = useLoaded('users', (signal) => get<User[]>(`${CORE}/users`, { signal }), {
    when: ({ kind }) => kind === 'users',
  });
  return (
    <Listing
      title="Users"
      noun="users"
      loader={loader}
      columns={USER_COLUMNS}
      keyOf={({ username }) => username}
      textOf={({ username, groups }) => `${username} ${(groups ?? []).join(' ')}`}
    />
  );
}

const scopeOf = (one: { metadata: { namespace?: string } }): string => one.metadata.namespace ?? 'everywhere';
const ruleText = ({ verbs, resources, resource_names: names }: Role['rules'][number]): string =>
  `${verbs.join(', ')} on ${resources.join(', ')}${(names ?? []).length > 0 ? ` named ${(names ?? []).join(', ')}` : ''}`;

const ROLE_COLUMNS: readonly Column<Role>[] = [
  { head: 'Role', cell: (one) => <strong>{one.metadata.name}</strong>, sort: (one) => one.metadata.name, width: '18%' },
  { head: 'Where', cell: scopeOf, sort: scopeOf, width: '10rem' },
  {
    head: 'Allows',
    cell: ({ rules }) => {
      const text = rules.map(ruleText).join('; ');
      return <span title={text}>{text}</span>;
    },
  },
];

const both = async <T,>(cluster: string, local: string, signal: AbortSignal): Promise<T[]> => {
  const all = await Promise.all([
    listAll<T>(`${CORE}/${cluster}`, { signal }),
    listAll<T>(`${CORE}${at`/namespaces/${namespace.value}/${local}`}`, { signal }),
  ]);
  return all.flat();
};

function Roles() {
  const loader = useLoaded(`roles ${namespace.value}`, (signal) => both<Role>('clusterroles', 'roles', signal), {
    when: ({ kind }) => kind === 'roles' || kind === 'clusterroles',
  });
  return (
    <Listing
      title="Roles"
      noun="roles"
      loader={loader}
      columns={ROLE_COLUMNS}
      keyOf={(one) => `${scopeOf(one)} ${one.metadata.name}`}
      textOf={(one) => `${one.metadata.name} ${scopeOf(one)} ${one.rules.map(ruleText).join(' ')}`}
    />
  );
}

const subjectsOf = ({ subjects }: Binding): string => subjects.map(({ type, name }) => `${type} ${name}`).join(', ');

const BINDING_COLUMNS: readonly Column<Binding>[] = [
  { head: 'Binding', cell: (one) => <strong>{one.metadata.name}</strong>, sort: (one) => one.metadata.name },
  { head: 'Where', cell: scopeOf, sort: scopeOf, width: '10rem' },
  { head: 'Role', cell: (one) => `${one.role_ref.name}`, sort: (one) => one.role_ref.name },
  { head: 'For', cell: subjectsOf, sort: subjectsOf, width: '36%' },
];

function Bindings() {
  const loader = useLoaded(
    `bindings ${namespace.value}`,
    (signal) => both<Binding>('clusterrolebindings', 'rolebindings', signal),
    { when: ({ kind }) => kind === 'rolebindings' || kind === 'clusterrolebindings' },
  );
  return (
    <Listing
      title="Bindings"
      noun="bindings"
      loader={loader}
      columns={BINDING_COLUMNS}
      keyOf={(one) => `${scopeOf(one)} ${one.metadata.name}`}
      textOf={(one) => `${one.metadata.name} ${one.role_ref.name} ${subjectsOf(one)}`}
    />
  );
}
