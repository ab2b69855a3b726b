import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { BackendProcess } from '../support/backend-process.ts';
import { keepalive } from '../support/example-events.ts';
import { DashboardBrowser, logIn } from './browser.ts';
import { createExample } from './example-data.ts';

/** Takes the pictures of `docs/images` from a real backend: `npm run pictures`. */
const DIRECTORY = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const SIZE = { width: 1280, height: 800 };
const SETTLED_MS = 1_200;

const VIEWS: Readonly<Record<string, string>> = {
  home: '/n/default',
  events: '/n/default/events',
  'events-grouped': '/n/default/events?status=all&group=label%3Asite',
  event: '/n/default/events/db-1/replication',
  entities: '/n/default/entities',
  entity: '/n/default/entities/web-1',
  silences: '/n/default/silences',
  notifications: '/n/default/notifications',
  checks: '/n/default/checks',
  check: '/n/default/checks/https',
  editor: '/n/default/resources/checks/disk?as=yaml',
  handlers: '/n/default/handlers',
  handler: '/n/default/resources/handlers/page-duty',
  agents: '/n/default/agents',
  aggregates: '/n/default/aggregates',
  machines: '/machines',
  actor: '/machines/check-state/actors/default%2Fdb-1%2Freplication',
  ledger: '/ledger',
  entry: '/ledger/24',
  users: '/users',
  settings: '/settings',
  tour: '/n/default/tour',
  wall: '/n/default/events?view=wall',
};

const backend = await BackendProcess.start();
await createExample(await backend.login());
for (const name of ['web-1', 'web-2', 'db-1']) {
  const agent = await backend.connect({ name, subscriptions: ['linux'] });
  agent.send('keepalive', keepalive(name));
}
await mkdir(DIRECTORY, { recursive: true });
const browser = await DashboardBrowser.start(backend.dashboardPort);
for (const colorScheme of ['light', 'dark'] as const) {
  const { page, context } = await browser.open({ viewport: SIZE, colorScheme, timezoneId: 'UTC' });
  await page.goto('/');
  await page.waitForTimeout(SETTLED_MS);
  await page.screenshot({ path: `${DIRECTORY}login-${colorScheme}.png` });
  await logIn(page);
  for (const [name, path] of Object.entries(VIEWS)) {
    await page.goto(path);
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: `${DIRECTORY}${name}-${colorScheme}.png` });
  }
  await context.close();
}
await browser.stop();
await backend.stop();
