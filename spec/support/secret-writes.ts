import { hashSync } from '@node-rs/bcrypt';

/** A secret that the writes contain and the ledger must not. */
export const SECRET = 's3cr3t-v4lue';
export const OTHER_SECRET = `other-${SECRET}`;
/** A password hash as clients send it. */
export const SECRET_HASH = hashSync(OTHER_SECRET, { cost: 4 });

/** One write, and the ledger entry that it must create. */
export interface Write {
  /** The route, as in the route table: `PUT /api/...`. */
  route: string;
  params: Record<string, string>;
  body?: object;
  actor: string;
  key: string;
  event: string;
  /** Whether the write changes nothing and creates no entry. */
  isUnchanged?: boolean;
  /** Names of the changed members; absent if the entry records no change. */
  changed?: readonly string[];
  /** Kinds of further resources that the write creates or deletes, each with its own entry. */
  beside?: { readonly kinds: readonly string[]; readonly key: string };
}

interface KindWrites {
  kind: string;
  name?: string;
  isOfCluster?: boolean;
  api?: string;
  body: object;
  /** Members that the update replaces. */
  change: Record<string, unknown>;
}

const CORE = '/api/core/v2';
const SECRETS = '/api/enterprise/secrets/v1';
const NAMESPACE = 'default';
const NAME = 'w1';
const ENVIRONMENT = [`TOKEN=${SECRET}`];
const RULES = [{ verbs: ['get'], resources: ['checks'] }];
const OTHER_RULES = [{ verbs: ['get'], resources: ['hooks'] }];
const SUBJECTS = [{ type: 'User', name: 'admin' }];
const OTHER_SUBJECTS = [{ type: 'Group', name: 'ops' }];
const SHA512 = 'a'.repeat(128);
const HANDLER = { name: 'h', type: 'Handler', api_version: 'core/v2' };

const KINDS: readonly KindWrites[] = [
  {
    kind: 'checks',
    body: { command: SECRET, interval: 10, env_vars: ENVIRONMENT },
    change: { env_vars: [`TOKEN=${OTHER_SECRET}`] },
  },
  {
    kind: 'handlers',
    body: { type: 'pipe', command: SECRET, env_vars: ENVIRONMENT },
    change: { env_vars: [`TOKEN=${OTHER_SECRET}`] },
  },
  { kind: 'hooks', body: { command: SECRET, timeout: 5 }, change: { command: OTHER_SECRET } },
  {
    kind: 'filters',
    body: { action: 'allow', expressions: [`"${SECRET}" == 1`] },
    change: { expressions: [`"${OTHER_SECRET}" == 1`] },
  },
  { kind: 'mutators', body: { command: SECRET, env_vars: ENVIRONMENT }, change: { command: OTHER_SECRET } },
  {
    kind: 'assets',
    name: 'acme/w1',
    body: { url: 'http://127.0.0.1/a', sha512: SHA512, headers: { Authorization: SECRET } },
    change: { headers: { Authorization: OTHER_SECRET } },
  },
  { kind: 'pipelines', body: { workflows: [] }, change: { workflows: [{ name: SECRET, handler: HANDLER }] } },
  {
    kind: 'secrets',
    api: SECRETS,
    body: { type: 'Secret', api_version: 'secrets/v1', spec: { id: SECRET, provider: 'vault' } },
    change: { spec: { id: OTHER_SECRET, provider: 'vault' } },
  },
  { kind: 'roles', body: { rules: RULES }, change: { rules: OTHER_RULES } },
  {
    kind: 'rolebindings',
    body: { subjects: SUBJECTS, role_ref: { type: 'ClusterRole', name: 'view' } },
    change: { subjects: OTHER_SUBJECTS },
  },
  { kind: 'clusterroles', isOfCluster: true, body: { rules: RULES }, change: { rules: OTHER_RULES } },
  {
    kind: 'clusterrolebindings',
    isOfCluster: true,
    body: { subjects: SUBJECTS, role_ref: { type: 'ClusterRole', name: 'view' } },
    change: { subjects: OTHER_SUBJECTS },
  },
];

/** Returns the writes that create, replace, patch and delete one resource. */
function writesOfKind({ kind, name = NAME, isOfCluster = false, api = CORE, body, change }: KindWrites): Write[] {
  const home = isOfCluster ? `${api}/${kind}` : `${api}/namespaces/:namespace/${kind}`;
  const one = kind === 'assets' ? `${home}/:asset` : `${home}/:name`;
  const params = { namespace: NAMESPACE, name, asset: name };
  const metadata = { name, ...(isOfCluster ? {} : { namespace: NAMESPACE }), annotations: { password: SECRET } };
  const patch = { metadata: { annotations: { password: OTHER_SECRET } } };
  const entry = { actor: kind, key: isOfCluster ? name : `${NAMESPACE}/${name}`, params };
  const changed = Object.keys(change);
  return [
    { ...entry, route: `POST ${home}`, body: { ...body, metadata }, event: 'resource.created', changed: [] },
    { ...entry, route: `PUT ${one}`, body: { ...body, ...change, metadata }, event: 'resource.updated', changed },
    { ...entry, route: `PATCH ${one}`, body: patch, event: 'resource.updated', changed: ['metadata'] },
    ...(kind === 'checks' ? writesOfCheck(one, params) : []),
    { ...entry, route: `DELETE ${one}`, event: 'resource.deleted', changed: [] },
  ];
}

function writesOfCheck(one: string, check: Record<string, string>): Write[] {
  const params = { ...check, type: 'critical', hook: 'h1' };
  const entry = { actor: 'checks', key: `${NAMESPACE}/${NAME}`, params };
  const edited = { ...entry, event: 'resource.updated', changed: ['check_hooks'] };
  return [
    { ...edited, route: `PUT ${one}/hooks/:type`, body: { critical: ['h1'] } },
    { ...edited, route: `DELETE ${one}/hooks/:type/hook/:hook` },
    { ...entry, route: `POST ${one}/execute`, body: { subscriptions: ['entity:x'] }, event: 'check.requested' },
  ];
}

function writesOfEntities(): Write[] {
  const home = `${CORE}/namespaces/:namespace/entities`;
  const entry = { actor: 'entities', key: `${NAMESPACE}/${NAME}`, params: { namespace: NAMESPACE, name: NAME } };
  const metadata = { name: NAME, namespace: NAMESPACE, labels: { password: SECRET } };
  const body = { entity_class: 'proxy', metadata };
  const changed = ['metadata'];
  const system = { hostname: SECRET };
  const put = { ...body, metadata: { ...metadata, labels: { password: OTHER_SECRET } } };
  const patch = { metadata: { labels: { password: SECRET } } };
  return [
    { ...entry, route: `POST ${home}`, body, event: 'resource.created', changed: [] },
    { ...entry, route: `PUT ${home}/:name`, body: put, event: 'resource.updated', changed },
    { ...entry, route: `PUT ${home}/:name`, body: { ...put, system }, event: 'resource.updated', changed: ['system'] },
    { ...entry, route: `PATCH ${home}/:name`, body: patch, event: 'resource.updated', changed },
    { ...entry, route: `DELETE ${home}/:name`, event: 'resource.deleted', changed: [] },
  ];
}

function writesOfSilences(): Write[] {
  const home = `${CORE}/namespaces/:namespace/silenced`;
  const name = 'linux:w1';
  const entry = { actor: 'silenced', key: `${NAMESPACE}/${name}`, params: { namespace: NAMESPACE, silence: name } };
  const body = { metadata: { name, namespace: NAMESPACE }, subscription: 'linux', check: 'w1', reason: 'disk swap' };
  const put = { ...body, reason: 'disk swapped' };
  return [
    { ...entry, route: `POST ${home}`, body, event: 'resource.created', changed: [] },
    { ...entry, route: `PUT ${home}/:silence`, body: put, event: 'resource.updated', changed: ['reason'] },
    { ...entry, route: `DELETE ${home}/:silence`, event: 'resource.deleted', changed: [] },
  ];
}

function writesOfUsers(): Write[] {
  const one = `${CORE}/users/:name`;
  const entry = { actor: 'users', key: NAME, params: { name: NAME, group: 'ops' }, event: 'resource.updated' };
  const body = { username: NAME, password: SECRET };
  const put = { ...body, password: OTHER_SECRET, groups: ['dev'] };
  const changed = { password: ['password_hash'], groups: ['groups'], disabled: ['disabled'] };
  const reset = { password_hash: SECRET_HASH };
  const own = { password: OTHER_SECRET, password_hash: SECRET_HASH };
  return [
    { ...entry, route: `POST ${CORE}/users`, body, event: 'resource.created', changed: [] },
    { ...entry, route: `PUT ${one}`, body: put, changed: ['password_hash', 'groups'] },
    { ...entry, route: `PUT ${one}/password`, body: own, changed: changed.password },
    { ...entry, route: `PUT ${one}/groups/:group`, changed: changed.groups },
    { ...entry, route: `DELETE ${one}/groups/:group`, changed: changed.groups },
    { ...entry, route: `DELETE ${one}/groups`, changed: changed.groups },
    { ...entry, route: `DELETE ${one}`, changed: changed.disabled },
    { ...entry, route: `PUT ${one}/reinstate`, changed: changed.disabled },
    {
      ...entry,
      route: `PUT ${one}/reset_password`,
      body: { ...reset, password_hash: hashSync(SECRET, { cost: 4 }) },
      changed: changed.password,
    },
  ];
}

/** Returns the writes of namespaces and of the telemetry flag. */
function otherWrites(): Write[] {
  const home = `${CORE}/namespaces`;
  const entry = { actor: 'namespaces', key: NAME, params: { name: NAME } };
  const body = { name: NAME };
  const beside = { kinds: ['roles', 'rolebindings'], key: `${NAME}/system:pipeline` };
  const created = { ...entry, body, event: 'resource.created', changed: [], beside };
  const deleted = { ...entry, route: `DELETE ${home}/:name`, event: 'resource.deleted', changed: [], beside };
  return [
    { ...created, route: `POST ${home}` },
    { ...entry, route: `PUT ${home}/:name`, body, event: 'resource.updated', isUnchanged: true },
    deleted,
    { ...created, route: `PUT ${home}/:name` },
    deleted,
    {
      route: `PUT ${CORE}/tessen`,
      params: {},
      body: { opt_out: true },
      actor: 'tessen',
      key: 'tessen',
      event: 'resource.updated',
      changed: ['opt_out'],
    },
  ];
}

/** The writes in order: each resource is created before it is changed, and deleted afterwards. */
export const WRITES: readonly Write[] = [
  ...KINDS.flatMap(writesOfKind),
  ...writesOfEntities(),
  ...writesOfSilences(),
  ...writesOfUsers(),
  ...otherWrites(),
];
