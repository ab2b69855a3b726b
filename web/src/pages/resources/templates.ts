const BODIES: Readonly<Record<string, object>> = {
  checks: {
    command: 'check-command',
    interval: 60,
    publish: true,
    subscriptions: ['linux'],
    handlers: [],
    timeout: 30,
  },
  handlers: { type: 'pipe', command: 'handler-command', timeout: 30, filters: ['is_incident', 'not_silenced'] },
  filters: { action: 'allow', expressions: ['event.check.status != 0'] },
  mutators: { command: 'mutator-command', timeout: 10 },
  pipelines: {
    workflows: [{ name: 'default', handler: { name: 'handler-name', type: 'Handler', api_version: 'core/v2' } }],
  },
  hooks: { command: 'ps aux', timeout: 10 },
  assets: { url: 'https://assets.example/asset.tar.gz', sha512: '' },
  entities: { entity_class: 'proxy', subscriptions: [] },
};

/** The initial text of a new resource of a kind. */
export const templateOf = (kind: string, namespace: string): object => ({
  metadata: { name: '', namespace },
  ...BODIES[kind],
});
