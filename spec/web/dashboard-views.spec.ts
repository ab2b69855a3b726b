import { expect } from 'chai';
import { linePath } from '../../web/src/pages/event/metric-lines.ts';
import { parseSearches, withSearch } from '../../web/src/state/saved-searches.ts';
import { dashboardPerSuite } from './dashboard.ts';
import { createExample, putEvent } from './example-data.ts';

const NOW_S = 10_000;

describe('the line of a metric', () => {
  it('spans the hour from left to right, and its values from bottom to top', () => {
    const samples = [
      { at: NOW_S - 3_600, value: 5 },
      { at: NOW_S - 1_800, value: 15 },
      { at: NOW_S, value: 10 },
    ];
    expect(linePath(samples, NOW_S, 200, 100)).to.equal('M0 90L100 10L200 50');
  });

  it('is in the middle for a constant value', () => {
    expect(linePath([{ at: NOW_S, value: 0 }], NOW_S, 200, 100)).to.equal('M200 50');
  });
});

describe('saved searches', () => {
  it('are sorted by name, and one replaces another of its name', () => {
    const saved = withSearch([{ name: 'b', to: '/b' }], { name: 'a', to: '/a' });
    expect(withSearch(saved, { name: 'b', to: '/c' })).to.deep.equal([
      { name: 'a', to: '/a' },
      { name: 'b', to: '/c' },
    ]);
  });

  it('are empty when the storage of the browser has something else, and never lead to another site', () => {
    for (const text of [null, 'no json', '{}', '[1,null]', '[{"name":"a"}]']) {
      expect(parseSearches(text), String(text)).to.deep.equal([]);
    }
    const foreign = ['//other.example', 'https://other.example', 'javascript:alert(1)'].map((to) => ({
      name: 'a',
      to,
    }));
    expect(parseSearches(JSON.stringify([...foreign, { name: 'b', to: '/events' }]))).to.deep.equal([
      { name: 'b', to: '/events' },
    ]);
  });
});

describe('what lists and events show besides', function () {
  this.timeout(60_000);
  const dashboard = dashboardPerSuite({ fill: createExample });

  it('saves a search under a name, and leads to it from the list and from the palette', async () => {
    const { page, context } = await dashboard.openAt('/n/default/events?q=disk&status=all');
    await page.getByRole('button', { name: 'Saved searches' }).click();
    await page.getByLabel('Name of this search').fill('disks');
    await page.getByRole('button', { name: 'Save this search' }).click();
    await page.locator('[data-saved]').getByRole('link', { name: 'disks' }).waitFor();
    await page.goto('/n/default/entities');
    await page.getByRole('button', { name: 'Saved searches' }).click();
    await page.getByRole('link', { name: 'disks' }).click();
    await page.locator('[data-count="2"]').waitFor();
    expect(new URL(page.url()).search).to.equal('?q=disk&status=all');
    await page.goto('/settings');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('disks');
    await page.keyboard.press('Enter');
    await page.waitForURL(/events\?q=disk&status=all/);
    await page.getByRole('button', { name: 'Saved searches' }).click();
    await page.getByRole('button', { name: 'Forget disks' }).click();
    await page.getByText('No search is saved').waitFor();
    await context.close();
  });

  it('has the focus in the palette before the next key can arrive', async () => {
    const { page, context } = await dashboard.openAt('/settings');
    const isFocused = await page.evaluate(async () => {
      dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, cancelable: true }));
      // Only microtasks run here: neither a paint nor a key comes between them.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      return document.activeElement?.matches('dialog[open] input') ?? false;
    });
    expect(isFocused).to.equal(true);
    await context.close();
  });

  it('collapses all groups, counts what is in them, and opens single ones', async () => {
    const { page, context } = await dashboard.openAt('/n/default/events?group=label:site');
    await page.locator('tr.row').first().waitFor();
    const count = Number(await page.locator('[data-count]').getAttribute('data-count'));
    await page.getByRole('button', { name: 'Collapse all' }).click();
    await page.locator('tr.row').first().waitFor({ state: 'detached' });
    expect(Number(await page.locator('[data-count]').getAttribute('data-count'))).to.equal(count);
    await page.getByRole('button', { name: /geneva/ }).click();
    await page.locator('tr[data-key="web-3/https"]').waitFor();
    expect(await page.locator('tr.row').count()).to.equal(1);
    expect(new URL(page.url()).search).to.equal('?group=label%3Asite&fold=all&closed=geneva');
    await page.getByRole('button', { name: 'Expand all' }).click();
    await page.locator('tr[data-key="db-1/replication"]').waitFor();
    await context.close();
  });

  it('draws the metrics, the hooks and the live chart of an event', async () => {
    const hook = { metadata: { name: 'processes' }, command: 'ps', output: 'init', status: 1, executed: 1 };
    await dashboard.api.put('/ns/default/events/web-9/load', {
      entity: { entity_class: 'proxy', metadata: { name: 'web-9', namespace: 'default' } },
      check: { metadata: { name: 'load', namespace: 'default' }, interval: 60, status: 1, hooks: [hook] },
      metrics: { handlers: [], points: [{ name: 'load.one', value: 4.25, timestamp: 1, tags: [] }] },
    });
    const { page, context } = await dashboard.openAt('/n/default/events/web-9/load');
    await page.locator('[data-metric="load.one"]').getByText('4.25', { exact: true }).waitFor();
    await page.getByText('exit code 1').waitFor();
    const chart = page.locator('[data-live-chart="check-state"]');
    await chart.locator('[data-state="check-state.failing"][data-active="true"]').waitFor();
    await putEvent(dashboard.api, 'web-9', 'load', 0);
    await chart.locator('[data-state="check-state.passing"][data-active="true"]').waitFor({ timeout: 5_000 });
    await context.close();
  });

  it('shows the chart in the tour, which moves when the alert is made', async () => {
    const { page, context } = await dashboard.openAt('/n/default/tour');
    await page.getByRole('button', { name: 'Make it pass' }).click();
    const chart = page.locator('[data-live-chart="check-state"]');
    await chart.locator('[data-state="check-state.passing"][data-active="true"]').waitFor();
    await page.getByRole('button', { name: 'Make it fail' }).click();
    await chart.locator('[data-state="check-state.failing"][data-active="true"]').waitFor();
    await context.close();
  });

  it('keeps the look of an event after a visit of a page of state machines', async () => {
    const { page, context } = await dashboard.openAt('/n/default/entities/db-1');
    const look = (): Promise<string> =>
      page
        .locator('dl.facts dd')
        .first()
        .evaluate((element) => getComputedStyle(element).fontSize);
    await page.locator('dl.facts').waitFor();
    const before = await look();
    await page.getByRole('link', { name: 'Data and ledger' }).click();
    await page.getByText('What can happen next').waitFor();
    await page.goBack();
    await page.locator('dl.facts').waitFor();
    expect(await look()).to.equal(before);
    await context.close();
  });

  it('ends several silences at once, and takes it back', async () => {
    for (const check of ['one', 'two'])
      await dashboard.api.post('/ns/default/silenced', { metadata: { namespace: 'default' }, check });
    const { page, context } = await dashboard.openAt('/n/default/silences');
    for (const check of ['one', 'two']) await page.getByLabel(`Select *:${check}`).check();
    await page.getByRole('button', { name: 'End 2 selected' }).click();
    await page.locator('[data-count="1"]').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('[data-count="3"]').waitFor();
    for (const check of ['one', 'two']) await dashboard.api.delete(`/ns/default/silenced/*:${check}`);
    await context.close();
  });

  it('makes a silence that begins later', async () => {
    const { page, context } = await dashboard.openAt('/n/default/silences');
    await page.getByRole('button', { name: 'New silence' }).click();
    await page.getByLabel('Check', { exact: true }).fill('later');
    await page.getByLabel('Start, if not now').fill('2099-01-02T03:04');
    await page.getByRole('dialog').getByRole('button', { name: 'Silence' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { json } = await dashboard.api.get('/ns/default/silenced/*:later');
    const { begin, expire_at: end } = json as { begin: number; expire_at: number };
    expect(new Date(begin * 1_000).getFullYear()).to.equal(2099);
    expect(end - begin).to.equal(3_600);
    await dashboard.api.delete('/ns/default/silenced/*:later');
    await context.close();
  });
});
