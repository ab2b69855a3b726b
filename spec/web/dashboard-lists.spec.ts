import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { dashboardPerSuite } from './dashboard.ts';
import { createExample, putEvent } from './example-data.ts';

const N = '/n/default';
/** A deletion that is not undone is done within this time. */
const DELETED_WITHIN_MS = 15_000;

const row = (page: Page, key: string) => page.locator(`tr.row[data-key="${key}"]`);
const undo = (page: Page) => page.getByRole('button', { name: 'Undo' });

describe('the lists of the dashboard', function () {
  this.timeout(60_000);
  const dashboard = dashboardPerSuite({ fill: createExample });
  const statusOf = async (path: string): Promise<number> => (await dashboard.api.get(path)).status;
  const isGone = (path: string): Promise<number> =>
    eventually(
      () => statusOf(path),
      (status) => status === 404,
      { what: 'a deletion', withinMs: DELETED_WITHIN_MS },
    );

  it('delete an entity from its row, with undo', async () => {
    await putEvent(dashboard.api, 'old-1', 'disk', 0);
    const { page, context } = await dashboard.openAt(`${N}/entities`);
    await page.getByRole('button', { name: 'Delete old-1' }).click();
    await row(page, 'old-1').waitFor({ state: 'detached' });
    await undo(page).click();
    await row(page, 'old-1').waitFor();
    expect(await statusOf('/ns/default/entities/old-1')).to.equal(200);
    await page.getByRole('button', { name: 'Delete old-1' }).click();
    await isGone('/ns/default/entities/old-1');
    expect(await row(page, 'old-1').count()).to.equal(0);
    await context.close();
  });

  it('delete an entity from its page, and lead back to it when that is undone', async () => {
    await putEvent(dashboard.api, 'old-2', 'disk', 0);
    const { page, context } = await dashboard.openAt(`${N}/entities/old-2`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/entities$/);
    await row(page, 'db-1').waitFor();
    expect(await row(page, 'old-2').count()).to.equal(0);
    await undo(page).click();
    await page.waitForURL(/\/entities\/old-2$/);
    expect(await statusOf('/ns/default/entities/old-2')).to.equal(200);
    // A page that is left does not wait any longer.
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/entities$/);
    await page.goto('/docs');
    await isGone('/ns/default/entities/old-2');
    await context.close();
  });

  it('silence an entity from its row', async () => {
    const { page, context } = await dashboard.openAt(`${N}/entities`);
    await page.getByRole('button', { name: 'Silence web-2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Silence' });
    expect(await dialog.getByLabel('Every check on web-2').isChecked()).to.equal(true);
    await dialog.getByRole('button', { name: 'Silence' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await dashboard.api.delete('/ns/default/silenced/entity:web-2:*')).status).to.equal(204);
    await context.close();
  });

  it('delete a handler from its page, with undo', async () => {
    const handler = { metadata: { name: 'old-mail', namespace: 'default' }, type: 'pipe', command: 'cat' };
    await dashboard.api.put('/ns/default/handlers/old-mail', handler);
    const { page, context } = await dashboard.openAt(`${N}/resources/handlers/old-mail`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/handlers/);
    await row(page, 'page-duty').waitFor();
    expect(await row(page, 'old-mail').count()).to.equal(0);
    await undo(page).click();
    await page.waitForURL(/resources\/handlers\/old-mail/);
    expect(await statusOf('/ns/default/handlers/old-mail')).to.equal(200);
    await context.close();
  });

  it('revoke an API key, with undo', async () => {
    const { page, context } = await dashboard.openAt('/settings');
    await page.getByRole('button', { name: 'New key' }).click();
    const key = (await page.locator('.made-key code').innerText()).trim();
    const revoke = page.getByRole('button', { name: 'Revoke the key of admin' });
    await revoke.click();
    await revoke.waitFor({ state: 'detached' });
    await undo(page).click();
    await revoke.waitFor();
    expect(await statusOf(`/api/core/v2/apikeys/${key}`)).to.equal(200);
    await revoke.click();
    await isGone(`/api/core/v2/apikeys/${key}`);
    await page.getByText('No key.').waitFor();
    await context.close();
  });

  it('are filtered by a click on a label, which can be copied', async () => {
    const { page, context } = await dashboard.openAt(`${N}/entities`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await row(page, 'web-3').getByRole('link', { name: 'Only site=geneva' }).click();
    await page.locator('[data-count="2"]').waitFor();
    expect(new URL(page.url()).search).to.equal('?label=site%3Dgeneva');
    await page.getByRole('button', { name: 'Copy site=geneva' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal('site=geneva');
    await page.getByRole('link', { name: 'Without site=geneva' }).click();
    await row(page, 'db-1').waitFor();
    await page.goto(`${N}/events?status=all`);
    await row(page, 'web-3/https').getByRole('link', { name: 'Only team=shop' }).click();
    await row(page, 'db-1/replication').waitFor({ state: 'detached' });
    await row(page, 'web-3/https').getByRole('link', { name: 'web-3 https' }).click();
    await page.getByRole('button', { name: 'Copy team=shop' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal('team=shop');
    await context.close();
  });

  for (const [list, opened] of [
    ['events', /\/events\/[^/]+\/[^/]+$/],
    ['entities', /\/entities\/[^/]+$/],
    ['checks', /\/checks\/[^/]+$/],
    ['silences', /\/resources\/silenced\/[^/]+$/],
    ['notifications', /\/events\/[^/]+\/[^/]+$/],
    ['handlers', /\/resources\/handlers\/[^/]+$/],
  ] as const) {
    it(`move with j and k and open a row with Enter: ${list}`, async () => {
      const { page, context } = await dashboard.openAt(`${N}/${list}`);
      await page.locator('tr.row').first().waitFor();
      const current = page.locator('tr.row.is-current');
      await page.keyboard.press('j');
      await current.waitFor();
      expect(await current.getAttribute('aria-current')).to.equal('true');
      const first = await current.getAttribute('data-key');
      expect(first).to.equal(await page.locator('tr.row').first().getAttribute('data-key'));
      if ((await page.locator('tr.row').count()) > 1) {
        await page.keyboard.press('j');
        expect(await current.getAttribute('data-key')).to.not.equal(first);
        await page.keyboard.press('k');
      }
      expect(await current.getAttribute('data-key')).to.equal(first);
      await page.keyboard.press('Enter');
      await page.waitForURL(opened);
      await context.close();
    });
  }

  it('act on the row of the keyboard: silence and delete an entity, select and end a silence', async () => {
    await dashboard.api.post('/ns/default/silenced', { metadata: { namespace: 'default' }, check: 'aaa' });
    const { page, context } = await dashboard.openAt(`${N}/entities?q=web-2`);
    await page.locator('[data-count="1"]').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Silence' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('#');
    await row(page, 'web-2').waitFor({ state: 'detached' });
    await page.keyboard.press('u');
    await row(page, 'web-2').waitFor();
    await page.goto(`${N}/silences?q=aaa`);
    await page.locator('[data-count="1"]').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'End 1 selected' }).waitFor();
    await page.keyboard.press('#');
    await page.getByText('Ended *:aaa').waitFor();
    await isGone('/ns/default/silenced/*:aaa');
    await context.close();
  });

  it('search the ledger by the kind of the cause', async () => {
    const { page, context } = await dashboard.openAt('/ledger');
    await page.getByLabel('Cause').selectOption('restore');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/cause=restore/);
    await page.locator('tr[data-seq]').first().waitFor();
    const causes = await page.locator('tr[data-seq] td:last-child').allInnerTexts();
    expect(new Set(causes)).to.deep.equal(new Set(['start of the backend']));
    expect(await page.getByLabel('Cause').inputValue()).to.equal('restore');
    await context.close();
  });

  it('silence and run the checks of several events at once, with undo', async () => {
    const checks = ['bulk-a', 'bulk-b'];
    for (const check of checks) await putEvent(dashboard.api, 'many-1', check, 2);
    const { page, context } = await dashboard.openAt(`${N}/events?q=many-1`);
    await page.locator('[data-count="2"]').waitFor();
    const bar = page.getByRole('region', { name: 'Selected events' });
    await page.getByLabel('Select all events of the list').check();
    await bar.getByRole('button', { name: 'Silence' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create 2 silences' }).click();
    for (const check of checks) await row(page, `many-1/${check}`).getByText('silenced by').waitFor();
    await undo(page).click();
    for (const check of checks) await row(page, `many-1/${check}`).getByText('no handler').waitFor();
    await page.getByLabel('Select all events of the list').check();
    await bar.getByRole('button', { name: 'Run again' }).click();
    // The checks have no definition, and the page says what failed.
    await page.getByText('2 of 2 failed').waitFor();
    await context.close();
  });

  it('show who silenced what and why, and mark a silence that ends within ten minutes', async () => {
    const silence = { metadata: { namespace: 'default' }, check: 'soon', reason: 'a new disk', expire: 300 };
    await dashboard.api.post('/ns/default/silenced', silence);
    const { page, context } = await dashboard.openAt(`${N}/silences`);
    const cells = row(page, '*:soon');
    await cells.getByText('a new disk').waitFor();
    await cells.getByText('admin').waitFor();
    expect(await cells.locator('td[data-head="End"] .tone-warning').innerText()).to.match(/^in \d/);
    expect(await row(page, 'entity:mail-1:queue').locator('td[data-head="End"] .tone-warning').count()).to.equal(0);
    await page.goto(N);
    await page.getByRole('region', { name: 'Silences' }).locator('.tone-warning').waitFor();
    await dashboard.api.delete('/ns/default/silenced/*:soon');
    await context.close();
  });

  it('have the last 21 results, each of which the keyboard reaches on the page of the event', async () => {
    for (let status = 0; status < 23; status += 1) await putEvent(dashboard.api, 'long-1', 'history', status % 3);
    const { page, context } = await dashboard.openAt(`${N}/events?status=all&q=long-1`);
    const strip = row(page, 'long-1/history').locator('.strip i');
    await strip.nth(20).waitFor();
    expect(await strip.count()).to.equal(21);
    await page.goto(`${N}/events/long-1/history`);
    const results = page.locator('.strip-large button');
    await results.nth(20).waitFor();
    expect(await results.count()).to.equal(21);
    await results.first().focus();
    await page.keyboard.press('Tab');
    const label = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
    expect(label).to.match(/^(OK|Warning|Critical), \w/);
    await context.close();
  });

  it('tell screen readers of new critical events', async () => {
    const { page, context } = await dashboard.openAt(`${N}/events`);
    await page.locator('tr.row').first().waitFor();
    await putEvent(dashboard.api, 'spoken-1', 'disk', 2);
    const region = page.locator('#announcement');
    await region.filter({ hasText: '1 new critical event' }).waitFor();
    expect(await region.getAttribute('aria-live')).to.equal('polite');
    await dashboard.api.delete('/ns/default/events/spoken-1/disk');
    await context.close();
  });

  it('are a wall by their address: worst first, and silenced problems pale and last', async () => {
    const { page, context } = await dashboard.openAt(`${N}/events?view=wall`);
    const tiles = page.locator('.tile');
    await tiles.first().waitFor();
    const classes = await tiles.evaluateAll((all) => all.map(({ className }) => className));
    expect(classes[0]).to.equal('tile tile-critical');
    expect(classes.at(-1)).to.equal('tile tile-critical is-handled');
    const order = classes.slice(0, -1).map((name) => ['critical', 'warning', 'unknown'].indexOf(name.slice(10)));
    expect(order).to.deep.equal(order.toSorted((one, other) => one - other));
    expect(await page.getByRole('searchbox').count()).to.equal(0);
    await context.close();
  });
});
