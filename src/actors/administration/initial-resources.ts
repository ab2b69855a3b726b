import { apiKeyWithDefaults } from '../../resources/api-key.ts';
import { assertUsername } from '../../resources/names.ts';
import { roleBindingWithDefaults } from '../../resources/role-binding.ts';
import { roleWithDefaults } from '../../resources/role.ts';
import { AGENT_USERNAME, userWithDefaults } from '../../resources/user.ts';
import { type ApiKeyDigest, digestApiKey } from '../../store/api-key-digest.ts';
import type { Decision } from '../../store/commit/decision.ts';
import { type ResourceKind, resourceKey } from '../../store/encoding/keyspace.ts';

export interface InitialResources {
  username: string;
  /** bcrypt hash */
  passwordHash: string;
  /** bcrypt hash of the password that agents use by default */
  agentPasswordHash: string;
  /** A UUID in plain text. Only its hash is stored. */
  apiKey: string | undefined;
  /** Whether the cluster role `edit` cannot change what the backend runs commands for. */
  restrictsEdit?: boolean | undefined;
}

/** The default password of agents of the reference. */
export const DEFAULT_AGENT_PASSWORD = 'P@ssw0rd!';

export class AlreadyInitialized extends Error {}

/** The key in `meta` that marks an initialized store. */
const INITIALIZED_KEY = 'initialized';

/** Whether `init` has created the resources of a new installation. */
export const isInitialised = (store: Pick<Decision, 'get'>): boolean =>
  store.get('meta', INITIALIZED_KEY) !== undefined;

const CORE = 'assets checks entities events filters handlers hooks mutators pipelines silenced'.split(' ');
const READ = ['get', 'list'];
const ALL = ['*'];

const CLUSTER_ROLES: Record<string, { verbs: string[]; resources: string[] }[]> = {
  'cluster-admin': [{ verbs: ALL, resources: ALL }],
  admin: [
    { verbs: ALL, resources: [...CORE, 'roles', 'rolebindings'] },
    { verbs: READ, resources: ['namespaces'] },
  ],
  edit: [
    { verbs: ALL, resources: CORE },
    { verbs: READ, resources: ['namespaces'] },
  ],
  view: [{ verbs: READ, resources: [...CORE, 'namespaces'] }],
  'system:agent': [{ verbs: ALL, resources: ['events'] }],
  'system:user': [{ verbs: ['get', 'update'], resources: ['localselfuser'] }],
};

/** Resources whose commands run on the machine of the backend. */
const RUN_ON_BACKEND = ['handlers', 'mutators'];

const RESTRICTED_EDIT = [
  { verbs: ALL, resources: CORE.filter((resource) => !RUN_ON_BACKEND.includes(resource)) },
  { verbs: READ, resources: [...RUN_ON_BACKEND, 'namespaces'] },
];

/** The group that each cluster role is bound to. */
const CLUSTER_ROLE_BINDINGS: Record<string, string> = {
  'cluster-admin': 'cluster-admins',
  'system:agent': 'system:agents',
  'system:user': 'system:users',
};

/** Creates the resources of a new installation in one decision. Existing resources stay unchanged. @throws AlreadyInitialized, InvalidResource */
export function createInitialResources(
  decision: Decision,
  { username, passwordHash, agentPasswordHash, apiKey, restrictsEdit = false }: InitialResources,
  atMs: number,
): void {
  if (isInitialised(decision)) throw new AlreadyInitialized('store already initialized');
  assertUsername(username);
  const put = (kind: ResourceKind, namespace: string | undefined, name: string, resource: object): void => {
    const key = resourceKey(kind, namespace, name);
    if (decision.get('resources', key) === undefined) decision.put('resources', key, resource);
  };
  const user = (name: string, hash: string, group: string): void => {
    put('users', undefined, name, userWithDefaults({ username: name, password_hash: hash, groups: [group] }));
  };
  put('namespaces', undefined, 'default', { name: 'default' });
  createPipelineRole(put, 'default');
  user(username, passwordHash, 'cluster-admins');
  user(AGENT_USERNAME, agentPasswordHash, 'system:agents');
  for (const [name, rules] of Object.entries(
    restrictsEdit ? { ...CLUSTER_ROLES, edit: RESTRICTED_EDIT } : CLUSTER_ROLES,
  )) {
    put('clusterroles', undefined, name, roleWithDefaults({ rules, metadata: { name } }));
  }
  for (const [name, group] of Object.entries(CLUSTER_ROLE_BINDINGS)) {
    const subjects = [{ type: 'Group', name: group }];
    const role_ref = { type: 'ClusterRole', name };
    put('clusterrolebindings', undefined, name, roleBindingWithDefaults({ subjects, role_ref, metadata: { name } }));
  }
  if (apiKey !== undefined) {
    const { name, hash } = digestApiKey(apiKey);
    put('apikeys', undefined, name, firstApiKey({ name, hash, username, atMs }));
  }
  decision.put('meta', INITIALIZED_KEY, atMs);
  decision.announcements.push({ type: 'rbac.changed' });
  decision.ledger.push({
    atMs,
    actor: 'store',
    key: 'store',
    from: null,
    event: 'initialized',
    to: 'initialized',
    cause: { user: username },
    guards: [],
    configRevision: 0,
  });
}

type Put = (kind: ResourceKind, namespace: string | undefined, name: string, resource: object) => void;

/** Creates the role and the binding by which event filters of a namespace read its events. */
export function createPipelineRole(put: Put, namespace: string, createdBy?: string): void {
  const name = 'system:pipeline';
  const metadata = { name, namespace, created_by: createdBy ?? null };
  const rules = [{ verbs: READ, resources: ['events'] }];
  const subjects = [{ type: 'Group', name }];
  put('roles', namespace, name, roleWithDefaults({ metadata, rules }));
  const role_ref = { type: 'Role', name };
  put('rolebindings', namespace, name, roleBindingWithDefaults({ metadata, subjects, role_ref }));
}

/** The key itself is not stored; its name is another UUID. */
function firstApiKey({ name, hash, username, atMs }: ApiKeyDigest & { username: string; atMs: number }): object {
  const created_at = Math.floor(atMs / 1_000);
  return apiKeyWithDefaults({ metadata: { name, created_by: username }, username, created_at, hash });
}
