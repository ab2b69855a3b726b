import { expect } from 'chai';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { perTest } from '../../support/fixture.ts';

/** Whether a value has a type of the tables. */
const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  'array of strings': (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  'array or null': (value) => value === null || Array.isArray(value),
};

/** The earlier-generation event, as the seed describes it. */
const EVENT = {
  _id: 'string',
  id: 'string',
  action: 'string',
  dc: 'string',
  check: 'object',
  client: 'object',
  last_ok: 'integer',
  last_state_change: 'integer',
  occurrences: 'integer',
  occurrences_watermark: 'integer',
  silenced: 'boolean',
  silenced_by: 'array or null',
  timestamp: 'integer',
};
const CHECK = {
  name: 'string',
  command: 'string',
  subscribers: 'array of strings',
  interval: 'integer',
  handler: 'string',
  status: 'integer',
  output: 'string',
  issued: 'integer',
  executed: 'integer',
  duration: 'number',
  history: 'array of strings',
  total_state_change: 'integer',
};
const CLIENT = {
  name: 'string',
  address: 'string',
  subscriptions: 'array of strings',
  version: 'string',
  timestamp: 'integer',
  environment: 'string',
  silenced: 'boolean',
};
const RESULTS = ['ok', 'warning', 'critical', 'unknown', 'total', 'stale'];

function wrongMembers(value: object, table: Readonly<Record<string, string>>): string[] {
  const members = value as Record<string, unknown>;
  return Object.entries(table).flatMap(([name, type]) =>
    TYPES[type]?.(members[name]) === true ? [] : [`${name} must be ${type}: ${JSON.stringify(members[name])}`],
  );
}

interface ShownEvent {
  _id: string;
  dc: string;
  check: object;
  client: object;
}

for (const listener of ['core', 'dashboard'] as const) {
  describe(`a client that knows only the tables of the seed, on the listener ${listener}`, () => {
    const world = perTest(() => EarlierWorld.start());

    /** A passing and then a failing result of an entity with an environment, in two namespaces. */
    beforeEach(async () => {
      for (const namespace of ['default', 'berlin']) {
        await world.check(namespace, 'disk', { aggregate: 'web', handlers: ['page'] });
        const metadata = { name: 'web-07', namespace, labels: { environment: 'prod', rack: 'r12' } };
        await world.admin.put(`/ns/${namespace}/entities/web-07`, {
          metadata,
          entity_class: 'proxy',
          subscriptions: ['web'],
          last_seen: world.backend.nowS,
        });
        for (const status of [0, 2]) {
          const check = { command: 'check-disk', subscriptions: ['web'], handlers: ['page'], duration: 0.25 };
          await world.result(namespace, 'web-07', 'disk', { ...check, status, output: 'CRIT' });
        }
      }
    });

    const get = async (path: string): Promise<unknown> => {
      const { status, json } = await world[listener].get(path);
      expect(status, path).to.equal(200);
      return json;
    };

    it('reads the events of two datacenters', async () => {
      const events = (await get('/events')) as ShownEvent[];
      expect(events.map(({ _id }) => _id)).to.deep.equal(['berlin/web-07/disk', 'default/web-07/disk']);
      for (const event of events) {
        expect(wrongMembers(event, EVENT)).to.deep.equal([]);
        expect(wrongMembers(event.check, CHECK)).to.deep.equal([]);
        expect(wrongMembers(event.client, CLIENT)).to.deep.equal([]);
        expect(event.client).to.include({ environment: 'prod', rack: 'r12' });
      }
    });

    it('gets 300 for an event of both, resolves it in one, and no longer finds it there', async () => {
      expect((await world[listener].delete('/events/web-07/disk')).status).to.equal(300);
      expect((await world[listener].delete('/events/web-07/disk?dc=berlin')).status).to.equal(202);
      const events = (await get('/events')) as ShownEvent[];
      expect(events.map(({ dc }) => dc)).to.deep.equal(['default']);
      expect((await world[listener].delete('/events/web-07/disk?dc=berlin')).status).to.equal(404);
    });

    it('reads an aggregate, its clients and its checks', async () => {
      const summary = (await get('/aggregates/web?dc=berlin')) as Record<string, object>;
      expect(wrongMembers(summary, { clients: 'integer', checks: 'integer', results: 'object' })).to.deep.equal([]);
      const counters = Object.fromEntries(RESULTS.map((name) => [name, 'integer']));
      expect(wrongMembers(summary['results'] ?? {}, counters)).to.deep.equal([]);
      expect(await get('/aggregates/web/clients?dc=berlin')).to.deep.equal([{ name: 'web-07', checks: ['disk'] }]);
      expect(await get('/aggregates/web/checks?dc=berlin')).to.deep.equal([{ name: 'disk', clients: ['web-07'] }]);
    });
  });
}
