type Json = Record<string, unknown>;

/** A resource that a POST to `home` creates. */
export interface Example {
  home: string;
  /** Returns the body of a resource of this name. */
  body(name: string): Json;
  /** Returns the last path segment of the resource; the default is its name. */
  id?(name: string): string;
}

const CORE = '/api/core/v2';
const SECRETS = '/api/enterprise/secrets/v1';
const BCRYPT = '$2a$04$WkOgx8E0nP1AXUOPBTN8FO7SxuIsJzcAKJkPHMZeBAbAMvBgMPbuK';
const RULES = [{ verbs: ['get'], resources: ['checks'] }];
const SUBJECTS = [{ type: 'User', name: 'x' }];

/** Returns an example of every kind of named resource, of the namespace and of the cluster. */
export function exampleResources(namespace: string): Example[] {
  const home = `${CORE}/namespaces/${namespace}`;
  const named = (name: string): Json => ({ metadata: { name, namespace } });
  const inCluster = (name: string): Json => ({ metadata: { name } });
  return [
    // One tick a day: a tick writes, and tests count writes.
    { home: `${home}/checks`, body: (name) => ({ ...named(name), command: 'true', interval: 86_400 }) },
    { home: `${home}/handlers`, body: (name) => ({ ...named(name), type: 'pipe', command: 'true' }) },
    { home: `${home}/hooks`, body: (name) => ({ ...named(name), command: 'true', timeout: 1 }) },
    { home: `${home}/filters`, body: (name) => ({ ...named(name), action: 'allow', expressions: ['true'] }) },
    { home: `${home}/mutators`, body: (name) => ({ ...named(name), command: 'cat' }) },
    {
      home: `${home}/assets`,
      body: (name) => ({ ...named(name), url: 'https://127.0.0.1/a.tar.gz', sha512: 'a'.repeat(128) }),
    },
    {
      home: `${home}/pipelines`,
      body: (name) => ({
        ...named(name),
        workflows: [{ name: 'w', handler: { name: 'h', type: 'Handler', api_version: 'core/v2' } }],
      }),
    },
    {
      home: `${SECRETS}/namespaces/${namespace}/secrets`,
      body: (name) => ({ ...named(name), type: 'Secret', spec: { id: 'X', provider: 'env' } }),
    },
    { home: `${home}/roles`, body: (name) => ({ ...named(name), rules: RULES }) },
    {
      home: `${home}/rolebindings`,
      body: (name) => ({ ...named(name), subjects: SUBJECTS, role_ref: { type: 'Role', name: 'x' } }),
    },
    { home: `${home}/entities`, body: (name) => ({ ...named(name), entity_class: 'proxy' }) },
    {
      home: `${home}/silenced`,
      body: (name) => ({ metadata: { namespace }, subscription: 'x', check: name }),
      id: (name) => `x:${name}`,
    },
    { home: `${CORE}/clusterroles`, body: (name) => ({ ...inCluster(name), rules: RULES }) },
    {
      home: `${CORE}/clusterrolebindings`,
      body: (name) => ({ ...inCluster(name), subjects: SUBJECTS, role_ref: { type: 'ClusterRole', name: 'x' } }),
    },
    { home: `${CORE}/users`, body: (username) => ({ username, password_hash: BCRYPT }) },
    { home: `${CORE}/namespaces`, body: (name) => ({ name }) },
  ];
}
