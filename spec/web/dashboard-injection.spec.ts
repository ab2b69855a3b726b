import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { dashboardPerSuite } from './dashboard.ts';
import { putEvent } from './example-data.ts';

/** Each tells when it is run. */
const ATTACKS = [
  '<script>globalThis.attacked = 1</script>',
  '<img src=x onerror="globalThis.attacked = 1">',
  '"><svg onload=globalThis.attacked=1>',
  '[link](javascript:globalThis.attacked=1)',
  'javascript:globalThis.attacked=1',
  '{{constructor.constructor("globalThis.attacked=1")()}}',
  "';globalThis.attacked=1;//",
];
const TEXT = ATTACKS.join(' ');

/** Writes the attacks wherever users and agents may write. */
async function attack(api: ApiClient): Promise<void> {
  const annotations = Object.fromEntries(ATTACKS.map((attack, index) => [`note-${index}`, attack]));
  const labels = Object.fromEntries(ATTACKS.map((attack, index) => [`label-${index}`, attack]));
  const names = { metadata: { name: 'alarm', namespace: 'default' } };
  await api.put('/ns/default/handlers/alarm', {
    ...names,
    type: 'pipe',
    command: `echo '${TEXT.replaceAll("'", '')}' >&2; exit 1`,
  });
  await api.put('/ns/default/checks/attack', {
    metadata: { name: 'attack', namespace: 'default', labels, annotations },
    command: TEXT,
    interval: 60,
    publish: false,
    subscriptions: [],
  });
  const hooks = [{ metadata: { name: 'hook' }, command: TEXT, output: TEXT, status: 1, executed: 1 }];
  await putEvent(api, 'victim', 'attack', 2, { output: TEXT, handlers: ['alarm'], command: TEXT, hooks }, labels);
  await api.put('/ns/default/events/victim/metrics', {
    entity: { entity_class: 'proxy', metadata: { name: 'victim', namespace: 'default' } },
    check: { metadata: { name: 'metrics', namespace: 'default' }, interval: 60, status: 0 },
    metrics: {
      handlers: [],
      points: [{ name: '<img src=x onerror=globalThis.attacked=1>', value: 1, timestamp: 1, tags: [] }],
    },
  });
  await api.patch('/ns/default/entities/victim', { metadata: { annotations } });
  await api.post('/ns/default/silenced', {
    metadata: { namespace: 'default', labels, annotations },
    subscription: 'entity:victim',
    check: 'attack',
    reason: TEXT,
  });
}

describe('A15: what others write, in the dashboard', function () {
  this.timeout(60_000);
  const dashboard = dashboardPerSuite({ fill: attack });

  it('is text in every view, and never runs', async () => {
    const { page, context, observed } = await dashboard.openAt('/n/default');
    const views = [
      ['/n/default', 'victim'],
      ['/n/default/events', 'victim'],
      ['/n/default/events?group=label:label-0', 'victim'],
      ['/n/default/events?view=wall', 'victim'],
      ['/n/default/events/victim/attack', 'Who was notified'],
      ['/n/default/events/victim/metrics', 'onerror'],
      ['/n/default/entities', 'victim'],
      ['/n/default/entities/victim', 'Facts'],
      ['/n/default/checks', 'attack'],
      ['/n/default/checks/attack', 'Facts'],
      ['/n/default/silences', 'victim'],
      ['/n/default/notifications', 'alarm'],
      ['/n/default/handlers', 'alarm'],
      ['/n/default/resources/checks/attack', 'Save'],
      ['/n/default/resources/checks/attack?as=yaml', 'As JSON'],
      ['/n/default/agents', 'Refused connections'],
      ['/n/default/aggregates', 'Aggregates'],
      ['/n/default/tour', 'Make it happen'],
      ['/users', 'admin'],
      ['/settings', 'API keys'],
      ['/machines', 'check-state'],
      ['/machines/check-state/actors/default%2Fvictim%2Fattack', 'What can happen next'],
      ['/machines/replay?actor=check-state:default%2Fvictim%2Fattack&since=0&until=4102444800', 'victim'],
      ['/ledger?key_prefix=default%2Fvictim', 'victim'],
      ['/ledger/5', 'verified by this browser'],
      [`/n/default/events?q=${encodeURIComponent(TEXT)}`, 'Events'],
      [`/n/${encodeURIComponent('<img src=x onerror=globalThis.attacked=1>')}/events`, 'Events'],
      ['/n/default/events?label=%22%3E%3Csvg%20onload%3DglobalThis.attacked%3D1%3E%3Da', 'Events'],
    ] as const;
    for (const [path, text] of views) {
      await page.goto(path);
      await page.locator('#main').getByText(text).first().waitFor();
      expect(await page.evaluate(() => 'attacked' in globalThis), path).to.equal(false);
      const links = await page
        .locator('a')
        .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).protocol));
      expect(
        links.filter((protocol) => protocol !== 'http:'),
        path,
      ).to.deep.equal([]);
    }
    expect(observed.foreign).to.deep.equal([]);
    expect(observed.errors.filter((text) => !text.includes('400') && !text.includes('404'))).to.deep.equal([]);
    await context.close();
  });

  it('could not run if it became markup, because of the policy', async () => {
    const { page, context } = await dashboard.openAt('/n/default');
    const isBlocked = await page.evaluate(() => {
      const script = document.createElement('script');
      try {
        script.textContent = 'globalThis.attacked = 1';
        document.head.append(script);
      } catch (error) {
        return error instanceof TypeError;
      }
      return !('attacked' in globalThis);
    });
    expect(isBlocked).to.equal(true);
    await context.close();
  });

  it('cannot use the login: writes need a header that no other site can send, and there are no cookies', async () => {
    const { page, context } = await dashboard.openAt('/n/default');
    expect(await context.cookies()).to.deep.equal([]);
    const namespace = '/api/core/v2/namespaces/default';
    const writes = [
      ['PUT', `${namespace}/checks/attack`],
      ['POST', `${namespace}/silenced`],
      ['DELETE', `${namespace}/events/victim/attack`],
      ['POST', '/api/mon/v1/tickets'],
    ] as const;
    const answers = await page.evaluate(
      (all) =>
        Promise.all(
          all.map(async ([method, path]) => (await fetch(path, { method, body: '{}', credentials: 'include' })).status),
        ),
      writes,
    );
    expect(answers).to.deep.equal([401, 401, 401, 401]);
    await context.close();
  });

  it('cannot be framed by another site', async () => {
    const { headers } = await dashboard.api.get('/docs');
    expect(headers['content-security-policy']).to.contain("frame-ancestors 'none'");
    const { page, context } = await dashboard.open();
    const response = await page.goto('/');
    expect(response?.headers()).to.include({ 'x-frame-options': 'DENY' });
    await context.close();
  });
});
