import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { dashboardPerSuite } from './dashboard.ts';
import { createExample, putEvent } from './example-data.ts';

const EVENTS = '/n/default/events';
const keysOf = (page: Page): Promise<string[]> =>
  page.locator('tr.row').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key') ?? ''));

describe('the list of events in a browser', function () {
  this.timeout(60_000);
  const dashboard = dashboardPerSuite({ fill: createExample });

  it('21: shows the same view in another browser that opens its address', async () => {
    const { page, context } = await dashboard.openAt(EVENTS);
    await page.getByLabel('Search events').fill('disk');
    await page.getByRole('combobox', { name: 'Status' }).selectOption('all');
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('label:site');
    await page.getByRole('combobox', { name: 'Sort' }).selectOption('entity');
    await page.locator('[data-count="2"]').waitFor();
    await page.getByRole('button', { name: /geneva/ }).click();
    const [shown, groups] = [await keysOf(page), await page.locator('.group-row').allTextContents()];
    expect(shown).to.deep.equal(['web-1/disk']);
    const other = await dashboard.openAt(page.url().replace(dashboard.browser.origin, ''));
    await other.page.locator('tr.row').first().waitFor();
    expect(await keysOf(other.page)).to.deep.equal(shown);
    expect(await other.page.locator('.group-row').allTextContents()).to.deep.equal(groups);
    expect(await other.page.getByLabel('Search events').inputValue()).to.equal('disk');
    await Promise.all([context.close(), other.context.close()]);
  });

  it('22: lets a new critical event wait within a second, and moves no row until it is shown', async () => {
    const { page, context } = await dashboard.openAt(EVENTS);
    await page.locator('tr.row').first().waitFor();
    const before = await keysOf(page);
    const first = page.locator('tr.row').first();
    const box = await first.boundingBox();
    await putEvent(dashboard.api, 'new-1', 'disk', 2);
    const button = page.getByRole('button', { name: '1 new event' });
    await button.waitFor({ timeout: 1_000 });
    expect(await keysOf(page)).to.deep.equal(before);
    expect(box).to.not.equal(null);
    await button.click();
    await page.locator('tr[data-key="new-1/disk"]').waitFor({ timeout: 1_000 });
    expect(await keysOf(page)).to.have.members([...before, 'new-1/disk']);
    await dashboard.api.delete('/ns/default/events/new-1/disk');
    await context.close();
  });

  it('24: previews exactly the events that a silence then silences', async () => {
    const { page, context } = await dashboard.openAt(EVENTS);
    await page.getByLabel('Select web-1 disk').check();
    await page.getByRole('region', { name: 'Selected events' }).getByRole('button', { name: 'Silence' }).click();
    await page.getByText('disk on every entity').click();
    await page.locator('.preview[data-count="2"]').waitFor();
    const previewed = await page
      .locator('.preview li')
      .evaluateAll((items) => items.map((item) => item.getAttribute('data-event') ?? ''));
    await page.getByLabel('Reason').fill('moving the disks');
    await page.getByRole('dialog').getByRole('button', { name: 'Silence' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${EVENTS}?status=all&silenced=only&q=disk`);
    await page.locator('[data-count="2"]').waitFor();
    expect(await keysOf(page)).to.have.members(previewed);
    await dashboard.api.delete('/ns/default/silenced/*:disk');
    await context.close();
  });

  it('26: does everything by the keyboard', async () => {
    const { page, context } = await dashboard.openAt(EVENTS);
    await page.locator('tr.row').first().waitFor();
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('/');
    await page.keyboard.type('switch-7');
    await page.locator('[data-count="1"]').waitFor();
    await press('Escape', 'j', 'x');
    await page.getByText('1 selected').waitFor();
    await press('s');
    await page.getByRole('dialog', { name: 'Silence' }).waitFor();
    await page.locator('.preview[data-count="1"]').waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await press('r');
    await page.getByText('Resolved 1 event').waitFor();
    await press('u');
    await page.locator('tr[data-key="switch-7/port-4"]').waitFor();
    await press('j', '#');
    await page.getByText('Deleted 1 event').waitFor();
    await press('u');
    await page.locator('tr[data-key="switch-7/port-4"]').waitFor();
    await press('j', 'e');
    await page
      .locator('.notice')
      .getByText(/failed|Asked/)
      .waitFor();
    await press('j', 'Enter');
    await page.waitForURL(/events\/switch-7\/port-4/);
    await press('g', 'e');
    await page.waitForURL(/events$/);
    await press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await context.close();
  });

  it('resolves, deletes and undoes several events at once', async () => {
    await Promise.all(['bulk-1', 'bulk-2', 'bulk-3'].map((entity) => putEvent(dashboard.api, entity, 'bulk', 2)));
    const { page, context } = await dashboard.openAt(`${EVENTS}?q=bulk`);
    await page.locator('[data-count="3"]').waitFor();
    await page.getByLabel('Select all events of the list').check();
    const bar = page.getByRole('region', { name: 'Selected events' });
    await bar.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('[data-count="3"]').waitFor();
    await page.getByLabel('Select all events of the list').check();
    await bar.getByRole('button', { name: 'Resolve' }).click();
    await page.locator('[data-count="0"]').waitFor();
    await page.waitForTimeout(5_500);
    for (const entity of ['bulk-1', 'bulk-2', 'bulk-3']) {
      expect(await dashboard.api.event(entity, 'bulk')).to.have.nested.property('check.status', 0);
    }
    await context.close();
  });
});
