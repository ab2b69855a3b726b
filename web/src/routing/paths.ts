const encode = encodeURIComponent;

/** The address of each page. */
export const paths = {
  home: (namespace: string) => `/n/${encode(namespace)}`,
  events: (namespace: string) => `/n/${encode(namespace)}/events`,
  event: (namespace: string, entity: string, check: string) =>
    `/n/${encode(namespace)}/events/${encode(entity)}/${encode(check)}`,
  entities: (namespace: string) => `/n/${encode(namespace)}/entities`,
  entity: (namespace: string, entity: string) => `/n/${encode(namespace)}/entities/${encode(entity)}`,
  checks: (namespace: string) => `/n/${encode(namespace)}/checks`,
  check: (namespace: string, check: string) => `/n/${encode(namespace)}/checks/${encode(check)}`,
  silences: (namespace: string) => `/n/${encode(namespace)}/silences`,
  notifications: (namespace: string) => `/n/${encode(namespace)}/notifications`,
  handlers: (namespace: string) => `/n/${encode(namespace)}/handlers`,
  agents: (namespace: string) => `/n/${encode(namespace)}/agents`,
  aggregates: (namespace: string) => `/n/${encode(namespace)}/aggregates`,
  tour: (namespace: string) => `/n/${encode(namespace)}/tour`,
  resource: (namespace: string, kind: string, name: string) =>
    `/n/${encode(namespace)}/resources/${encode(kind)}/${encode(name)}`,
  machines: () => '/machines',
  actor: (machine: string, key: string) => `/machines/${encode(machine)}/actors/${encode(key)}`,
  users: () => '/users',
  ledger: (filter: Readonly<Record<string, string>> = {}) => {
    const search = new URLSearchParams(filter).toString();
    return search === '' ? '/ledger' : `/ledger?${search}`;
  },
  entry: (seq: number) => `/ledger/${seq}`,
  settings: () => '/settings',
};
