import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { perSuite } from '../support/fixture.ts';
import type { Observed } from './browser.ts';
import { type Dashboard, dashboardPerSuite } from './dashboard.ts';
import { createExample, createLongNames, LONG_CHECK, LONG_ENTITY } from './example-data.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WINDOW = { width: 1_280, height: 720 };
const SMALL_SCREEN = { width: 360, height: 740 };

/** The views, with a text that each shows when it is complete. */
export const VIEWS: readonly (readonly [path: string, text: string | RegExp])[] = [
  ['/n/default', 'What is wrong'],
  ['/n/default/events', 'web-3'],
  ['/n/default/events?view=wall', /open problem/],
  ['/n/default/events/web-3/https', 'Who was notified'],
  [`/n/default/events/${LONG_ENTITY}/${LONG_CHECK}`, 'Who was notified'],
  [`/n/default/entities/${LONG_ENTITY}`, 'Facts'],
  ['/n/default/entities', 'db-1'],
  ['/n/default/entities/db-1', 'replication'],
  ['/n/default/checks', 'replication'],
  ['/n/default/checks/disk', 'Last result of each entity'],
  ['/n/default/silences', 'mail-1'],
  ['/n/default/notifications', 'page-duty'],
  ['/n/default/handlers', 'page-duty'],
  ['/n/default/agents', 'Refused connections'],
  ['/n/default/aggregates', 'Aggregates'],
  ['/n/default/tour', 'Make it happen'],
  ['/n/default/resources/checks/disk', 'Save'],
  ['/n/default/resources/handlers/chat', 'What would run now'],
  ['/n/default/resources/checks/disk?as=yaml', 'As JSON'],
  ['/users', 'admin'],
  ['/users?show=roles', 'cluster-admin'],
  ['/ledger', 'Verify the ledger'],
  ['/ledger/5', 'verified by this browser'],
  ['/settings', 'API keys'],
  ['/machines', /./],
  ['/machines/replay?actor=check-state:default%2Fdb-1%2Freplication&since=0&until=4102444800', 'Play'],
];

/** These rules depend on colours; all others give the same result in every colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** The rules that the page breaks seriously, with the first elements that break them. */
const seriousViolations = (page: Page, rules: readonly string[] = []): Promise<string[]> =>
  page.evaluate(async (only) => {
    interface Axe {
      run(options: object): Promise<{ violations: Violation[] }>;
    }
    const { axe } = globalThis as unknown as { axe: Axe };
    const options = only.length === 0 ? {} : { runOnly: only };
    const { violations } = await axe.run({ ...options, resultTypes: ['violations'] });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
  }, rules);

async function goTo(page: Page, path: string, text: string | RegExp): Promise<void> {
  await page.goto(path);
  await page.locator('#main').getByText(text).first().waitFor();
}

/** What one visit of every view shows. */
interface Visit {
  /** Serious violations of accessibility, by colour scheme. */
  violations: Record<'light' | 'dark', string[]>;
  /** Views that are wider than a screen of 360 pixels. */
  wide: string[];
  observed: Observed;
}

async function visitAll(dashboard: Dashboard): Promise<Visit> {
  const { page, context, observed } = await dashboard.openAt('/n/default', { colorScheme: 'light' });
  const visit: Visit = { violations: { light: [], dark: [] }, wide: [], observed };
  // The policy of the page forbids scripts in elements, so the debugger runs it.
  await context.addInitScript({ content: AXE });
  for (const [path, text] of VIEWS) {
    await page.setViewportSize(WINDOW);
    await page.emulateMedia({ colorScheme: 'light' });
    await goTo(page, path, text);
    const found = async (rules?: readonly string[]) =>
      (await seriousViolations(page, rules)).map((violation) => `${path} ${violation}`);
    visit.violations.light.push(...(await found()));
    await page.emulateMedia({ colorScheme: 'dark' });
    await goTo(page, path, text);
    visit.violations.dark.push(...(await found(COLOUR_RULES)));
    await page.setViewportSize(SMALL_SCREEN);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > SMALL_SCREEN.width) visit.wide.push(`${path}: ${width}`);
  }
  await context.close();
  return visit;
}

describe('every view of the dashboard', function () {
  this.timeout(180_000);
  const dashboard = dashboardPerSuite({
    fill: async (api) => {
      await createExample(api);
      await createLongNames(api);
    },
  });
  const visit = perSuite(() => visitAll(dashboard));

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`25: has no serious violation of accessibility in ${colorScheme} colours`, () => {
      expect(visit.violations[colorScheme]).to.deep.equal([]);
    });
  }

  it('28: asks no other host, and causes no error', () => {
    expect(visit.observed).to.deep.equal({ foreign: [], errors: [] });
  });

  it('fits a screen of 360 pixels', () => {
    expect(visit.wide).to.deep.equal([]);
  });

  it('has its actions on a screen of 360 pixels', async () => {
    const { page, context } = await dashboard.openAt('/n/default/events', { viewport: SMALL_SCREEN });
    await page.getByLabel('Select web-3 https').check();
    await page.getByRole('region', { name: 'Selected events' }).getByRole('button', { name: 'Silence' }).click();
    await page.getByRole('dialog', { name: 'Silence' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('heading', { name: 'Ledger', exact: true }).waitFor();
    await context.close();
  });

  it('has the high contrast that the settings offer', async () => {
    const { page, context } = await dashboard.openAt('/settings');
    await context.addInitScript({ content: AXE });
    await page.getByLabel('High contrast').check();
    await page.getByLabel('Dark').check();
    await page.reload();
    await page.getByText('High contrast').waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).to.equal('dark');
    expect(await page.locator('html').getAttribute('data-contrast')).to.equal('high');
    expect(await seriousViolations(page)).to.deep.equal([]);
    await context.close();
  });
});
