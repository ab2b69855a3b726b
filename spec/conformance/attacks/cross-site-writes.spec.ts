import { expect } from 'chai';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { ADMIN } from '../../support/api-client.ts';
import { EarlierClient, type EarlierAnswer } from '../../support/earlier-client.ts';
import { earlierRouteTable } from '../../support/earlier-route-table.ts';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { perSuite } from '../../support/fixture.ts';
import { routeTable } from '../../support/route-table.ts';

const READS = new Set(['GET', 'HEAD']);
const REFUSED = new Set([401, 403]);
const OTHER_SITE = 'https://attacker.example';
/** Types of content that a form, or a script without permission, can send to another site. */
const FORM_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
/** Routes that need no login of the browser: they need a token in their body, or change nothing. */
const HARMLESS = [
  'POST /auth/token',
  'POST /auth/logout',
  'POST /graphql',
  'POST /api/core/v2/tessen/metrics',
  // It begins a login of the credentials in its body.
  'POST /login',
];

interface Write {
  title: string;
  method: string;
  path: string;
}

const filled = (path: string): string =>
  path.replaceAll(/:(\w+)\*?/g, (_, name: string) => (name === 'silence' ? 'web:disk' : 'x'));

const writesOf = (routes: readonly { method: string; path: string }[]): Write[] =>
  routes
    .filter(({ method }) => !READS.has(method))
    .map(({ method, path }) => ({ title: `${method} ${path}`, method, path: filled(path) }));

/** Source: spec/07 A15. */
describe('A15: a page of another site in the browser of a user', () => {
  const world = perSuite(() => EarlierWorld.start());
  /** What the browser adds by itself: the cookies of a login, or a password that it knows. */
  let added: readonly Record<string, string>[];

  before(async () => {
    const { username: user, password: pass } = ADMIN;
    const { headers, status } = await world.dashboard.post('/login', { user, pass });
    expect(status).to.equal(200);
    const cookie = (headers['set-cookie'] ?? []).map((one) => one.split(';', 1)[0] ?? '').join('; ');
    added = [{}, { Cookie: cookie }, { Authorization: basicHeader(ADMIN) }];
  });

  const ledgerEntries = async (): Promise<number> =>
    ((await world.admin.get('/api/mon/v1/backend')).json as { ledger_seq: number }).ledger_seq;

  /** Sends a write in each way that a browser would, and returns those that were not refused. */
  async function forge(client: EarlierClient, { title, method, path }: Write): Promise<string[]> {
    const passed: string[] = [];
    for (const type of FORM_TYPES) {
      for (const headers of added) {
        // Before any other method the browser asks, and gets no permission to send credentials.
        if (method !== 'POST' && 'Authorization' in headers) continue;
        const { status } = await client.send({
          method,
          path,
          ...(method === 'DELETE' ? {} : { text: '{"metadata":{"name":"x"}}' }),
          headers: { ...headers, Origin: OTHER_SITE, 'Content-Type': type, 'Sec-Fetch-Site': 'cross-site' },
        });
        if (!REFUSED.has(status)) passed.push(`${title} ${type} ${Object.keys(headers).join()}: ${status}`);
      }
    }
    return passed;
  }

  /** The browser asks first; this is what it must not be told. */
  const allows = ({ headers }: EarlierAnswer): boolean =>
    headers['access-control-allow-credentials'] === 'true' || headers['access-control-allow-origin'] === OTHER_SITE;

  const PORTS = [
    ['the REST API', () => world.backend.apiPort, routeTable],
    ['the REST API on the port of the dashboard', () => world.backend.dashboardPort, routeTable],
    [
      'the API of the first generation on the port of the dashboard',
      () => world.backend.dashboardPort,
      () => earlierRouteTable('dashboard'),
    ],
    ['the API of the first generation', () => world.backend.earlierApiPort, () => earlierRouteTable('core')],
  ] as const;

  for (const [name, port, table] of PORTS) {
    it(`cannot use any writing route of ${name}`, async function () {
      this.timeout(60_000);
      const client = new EarlierClient(port());
      const writes = writesOf(await table());
      expect(writes).to.have.length.above(5);
      const before = await ledgerEntries();
      const passed: string[] = [];
      for (const write of writes) {
        if (!HARMLESS.includes(write.title)) passed.push(...(await forge(client, write)));
      }
      expect(passed).to.deep.equal([]);
      expect(await ledgerEntries()).to.equal(before);
      client.close();
    });

    it(`is not permitted by ${name} to send more than forms can`, async () => {
      const client = new EarlierClient(port());
      const permitted: string[] = [];
      for (const { title, method, path } of writesOf(await table())) {
        const answer = await client.send({
          method: 'OPTIONS',
          path,
          headers: { Origin: OTHER_SITE, 'Access-Control-Request-Method': method },
        });
        if (allows(answer)) permitted.push(title);
      }
      expect(permitted).to.deep.equal([]);
      client.close();
    });
  }

  it('cannot log the user in as somebody else, and the routes without a login change nothing', async () => {
    const text = JSON.stringify({ user: ADMIN.username, pass: ADMIN.password });
    const before = await ledgerEntries();
    for (const title of HARMLESS) {
      const [method = '', path = ''] = title.split(' ');
      const headers = { Origin: OTHER_SITE, 'Content-Type': 'text/plain' };
      const answer = await world.dashboard.send({ method, path, text, headers });
      expect(answer.headers, title).to.not.have.property('set-cookie');
    }
    expect(await ledgerEntries()).to.equal(before);
  });

  it('differs from a script of the same site, and from a client that is no browser', async () => {
    const { dashboard } = world;
    const silence = { dc: 'default', check: 'disk', reason: 'x' };
    const Authorization = basicHeader(ADMIN);
    for (const headers of [
      { Authorization },
      { Authorization, Origin: `http://127.0.0.1:${world.backend.dashboardPort}`, 'Content-Type': 'text/plain' },
    ] as Record<string, string>[]) {
      const { status } = await dashboard.send({ method: 'POST', path: '/silenced', body: silence, headers });
      expect(status).to.be.below(300);
    }
  });
});
