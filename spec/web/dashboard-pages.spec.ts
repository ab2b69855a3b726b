import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { keepalive } from '../support/example-events.ts';
import { dashboardPerSuite } from './dashboard.ts';
import { createExample, putEvent } from './example-data.ts';

const N = '/n/default';
/** The colour of texts in each scheme, as browsers compute it. */
const INKS = [
  ['dark', 'rgb(230, 235, 241)'],
  ['light', 'rgb(23, 32, 43)'],
] as const;

describe('the pages of entities, agents, checks and handlers, and the home page', function () {
  this.timeout(60_000);
  const dashboard = dashboardPerSuite({ fill: createExample });

  async function connect(name: string) {
    const agent = await dashboard.backend.connect({ name, subscriptions: ['linux'] });
    agent.send('keepalive', keepalive(name));
    await eventually(
      () => dashboard.api.get(`/api/mon/v1/actors/entity:default%2F${name}`),
      ({ json }) => JSON.stringify(json).includes('"monitored"'),
      { what: 'a monitored entity' },
    );
    return agent;
  }

  it('draw the keepalives and the connection of an agent live, with the times to their deadlines', async () => {
    const agent = await connect('live-1');
    const { page, context } = await dashboard.openAt(`${N}/entities/live-1`);
    const entity = page.locator('[data-live-chart="entity"]');
    await entity.locator('[data-state="entity.registered.monitored"][data-active="true"]').waitFor();
    await entity.locator('.countdown').waitFor();
    const connection = page.locator('[data-live-chart="connection"]');
    await connection.locator('[data-state="agent-connection.registered"][data-active="true"]').waitFor();
    await connection.locator('.countdown').waitFor();
    await agent.disconnect();
    await connection.waitFor({ state: 'detached' });
    await page.getByText('The agent is not connected.').waitFor();
    await context.close();
  });

  it('draw the chart of the connection that the user chooses, until it ends', async () => {
    const [one, other] = [await connect('agent-1'), await connect('agent-2')];
    const { page, context } = await dashboard.openAt(`${N}/agents`);
    await page.getByRole('heading', { name: 'Connection of agent-1' }).waitFor();
    await page.getByRole('link', { name: /show the chart of agent-2/ }).click();
    await page.getByRole('heading', { name: 'Connection of agent-2' }).waitFor();
    expect(new URL(page.url()).searchParams.get('connection')).to.match(/^[0-9a-f-]{36}$/);
    const chart = page.locator('[data-live-chart="connection"]');
    const active = (state: string) => chart.locator(`[data-state="agent-connection.${state}"][data-active="true"]`);
    await active('registered').waitFor();
    await chart.locator('.countdown').waitFor();
    await other.disconnect();
    await active('deregistered').waitFor();
    await page.getByRole('heading', { name: 'Connection of agent-2' }).waitFor();
    await context.close();
    await one.disconnect();
  });

  it('show in the row of an entity when the silence of its agent raises an alert', async () => {
    const agent = await connect('timed-1');
    const { page, context } = await dashboard.openAt(`${N}/entities?q=timed-1`);
    const time = page.locator('tr[data-key="timed-1"] td[data-head="Alert in"] time');
    await time.waitFor();
    const { json } = await dashboard.api.get('/api/mon/v1/actors/entity:default%2Ftimed-1');
    const shown = Date.parse((await time.getAttribute('datetime')) ?? '');
    // The clock and the steady time are read one after the other.
    expect(shown).to.be.closeTo((json as { deadline_at_ms: number }).deadline_at_ms, 50);
    await context.close();
    await agent.disconnect();
  });

  it('count the problems and agents of each namespace that the user may see', async () => {
    await dashboard.api.put('/api/core/v2/namespaces/shop', { name: 'shop' });
    const agent = await connect('counted-1');
    const { page, context } = await dashboard.openAt(N);
    const count = (namespace: string, tone: string) =>
      page.locator(`tr[data-namespace="${namespace}"] [data-tone="${tone}"]`);
    const number = async (namespace: string, tone: string): Promise<number> =>
      Number(await count(namespace, tone).innerText());
    await count('shop', 'critical').waitFor();
    expect(await number('shop', 'critical')).to.equal(0);
    const before = await number('default', 'critical');
    expect(before).to.equal(3);
    await putEvent(dashboard.api, 'counted-2', 'disk', 2);
    await eventually(
      () => number('default', 'critical'),
      (now) => now === before + 1,
      { what: 'the new problem' },
    );
    await count('default', 'critical').getByRole('link').click();
    await page.waitForURL(/\/n\/default\/events\?status=critical$/);
    await page.locator(`[data-count="${before + 1}"]`).waitFor();
    await dashboard.api.delete('/ns/default/events/counted-2/disk');
    await context.close();
    await agent.disconnect();
  });

  it('count the agents by the state of their keepalives', async () => {
    const { page, context } = await dashboard.openAt(N);
    const inTime = page.locator('[data-agents="registered"] strong');
    // The number is not known at first.
    await inTime.filter({ hasText: /^\d+$/ }).waitFor();
    const before = Number(await inTime.innerText());
    const agent = await connect('state-1');
    await inTime.filter({ hasText: new RegExp(`^${before + 1}$`) }).waitFor();
    expect(await page.locator('[data-agents="critical"] strong').innerText()).to.equal('0');
    await context.close();
    await agent.disconnect();
  });

  it('show the next five runs of a check with a cron expression', async () => {
    const { page, context } = await dashboard.openAt(`${N}/checks/https`, { timezoneId: 'UTC' });
    const runs = page.getByRole('region', { name: 'Next runs' }).locator('li');
    await runs.nth(4).waitFor();
    expect(await runs.count()).to.equal(5);
    for (const text of await runs.allInnerTexts()) expect(text).to.match(/:[0-5][05]:00/);
    await context.close();
  });

  it('make a dry run from a check, with one of its events', async () => {
    const { page, context } = await dashboard.openAt(`${N}/checks/disk`);
    await page.getByLabel('With the event').selectOption('web-1 disk');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.locator('[data-dry-run]').getByText('page-duty').waitFor();
    await page.locator('[data-dry-run]').getByText('would-run').waitFor();
    await page.getByLabel('With the event').selectOption('db-2 disk');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.locator('[data-dry-run]').getByText('denied').waitFor();
    await context.close();
  });

  it('make a dry run of a handler, with an event that does not name it', async () => {
    const { page, context } = await dashboard.openAt(`${N}/resources/handlers/chat`);
    await page.getByLabel('With the event').selectOption('web-3 https');
    await page.getByRole('button', { name: 'Dry run' }).click();
    const result = page.locator('[data-dry-run] li');
    await result.getByText('chat').waitFor();
    expect(await result.count()).to.equal(1);
    await context.close();
  });

  it('edit a resource in YAML and store it', async () => {
    const { page, context } = await dashboard.openAt(`${N}/resources/checks/load?as=yaml`);
    const editor = page.locator('textarea.editor');
    await editor.waitFor();
    const text = await eventually(
      () => editor.inputValue(),
      (value) => value.includes('interval: 30'),
      { what: 'the check in YAML' },
    );
    await editor.fill(text.replace('interval: 30', 'interval: 45'));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved load').waitFor();
    const { json } = await dashboard.api.get('/ns/default/checks/load');
    expect(json).to.have.property('interval', 45);
    await context.close();
  });

  it('change all colours at once with the scheme of the system, also for users who want less motion', async () => {
    const { page, context } = await dashboard.openAt(`${N}/events`, { colorScheme: 'light' });
    await page.locator('tr.row').first().waitFor();
    for (const [colorScheme, ink] of INKS) {
      await page.emulateMedia({ colorScheme });
      const colours = await page.evaluate(async () => {
        for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
        const names = document.querySelectorAll('body, .row:not(.is-handled) .row-entity');
        return [...names].map((name) => getComputedStyle(name).color);
      });
      expect(new Set(colours)).to.deep.equal(new Set([ink]));
    }
    await context.close();
  });
});
