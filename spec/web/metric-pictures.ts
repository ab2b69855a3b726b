import { fileURLToPath } from 'node:url';
import { InProcessBackend } from '../support/in-process-backend.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { DashboardBrowser } from './browser.ts';
import { createMetrics } from './example-data.ts';

/** `npm run pictures`: takes the pictures of metrics and hooks from a backend whose clock passes an hour at once. */
const DIRECTORY = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const SETTLED_MS = 1_200;
const BEFORE_MS = 59 * 60_000;

const backend = await InProcessBackend.start({ clock: new ManualClock(Date.now() - BEFORE_MS) });
try {
  const api = await backend.login();
  const first = { metadata: { name: 'first', namespace: 'default' }, action: 'allow' };
  await api.put('/ns/default/filters/first', { ...first, expressions: ['event.check.occurrences == 1'] });
  const command = 'cat >/dev/null';
  const handler = { metadata: { name: 'page-duty', namespace: 'default' }, type: 'pipe', command };
  await api.put('/ns/default/handlers/page-duty', { ...handler, filters: ['is_incident', 'first'] });
  await createMetrics(api, backend);
  const browser = await DashboardBrowser.start(backend.dashboardPort);
  const viewport = { width: 1280, height: 1000 };
  for (const colorScheme of ['light', 'dark'] as const) {
    const path = '/n/default/events/web-2/load';
    const { page, context } = await browser.openAt(path, { viewport, colorScheme, timezoneId: 'UTC' });
    await page.locator('[data-metric="load.one"]').waitFor();
    await page.getByText('processes').click();
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: `${DIRECTORY}metrics-${colorScheme}.png` });
    await context.close();
  }
  await browser.stop();
} finally {
  await backend.stop();
}
