import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { AgentProcess } from '../agent/agent-process.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { DashboardBrowser } from './browser.ts';

/** `npm run pictures`: takes the pictures of state machines in the documentation from a running backend, an agent of which dies. */
const DIRECTORY = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const ACTOR_PAGE = '/machines/entity/actors/default%2Fweb-1';
const TIMEOUTS = ['--keepalive-interval', '1', '--keepalive-warning-timeout', '5', '--keepalive-critical-timeout', '8'];
/** So that the animation of the last transition has ended. */
const SETTLED_MS = 2_500;

const backend = await BackendProcess.start({ args: ['--inspect'] });
const startAgent = (name: string): AgentProcess => {
  const url = ['--backend-url', `ws://127.0.0.1:${backend.agentPort}`];
  return new AgentProcess(['start', '--name', name, ...url, '--subscriptions', 'linux', ...TIMEOUTS]);
};
const agents = ['web-1', 'web-2', 'db-1'].map(startAgent);
const browser = await DashboardBrowser.start(backend.dashboardPort);

async function take(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(SETTLED_MS);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${DIRECTORY}${name}-${colorScheme}.png` });
  }
}

try {
  mkdirSync(DIRECTORY, { recursive: true });
  const api = await backend.login();
  const check = { metadata: { name: 'disk', namespace: 'default' }, command: 'check_disk', interval: 30, ttl: 90 };
  await api.put('/ns/default/checks/disk', { ...check, publish: false, subscriptions: ['linux'] });
  const event = { entity: { entity_class: 'proxy', metadata: { name: 'db-2' } }, check: { ...check, status: 2 } };
  await api.put('/ns/default/events/db-2/disk', event);
  await eventually(
    () => api.get('/api/mon/v1/actors/entity:default%2Fweb-1'),
    ({ status }) => status === 200,
    { what: 'a registered agent', withinMs: 15_000 },
  );
  const viewport = { width: 1280, height: 1000 };
  const { page } = await browser.openAt(ACTOR_PAGE, { viewport });
  await agents[0]?.kill();
  await page.locator('.chart [data-state="entity.critical"][data-active="true"]').waitFor({ timeout: 20_000 });
  await take(page, 'machine-actor');
  await page.goto('/machines');
  await take(page, 'machines');
  await page.goto(ACTOR_PAGE);
  await page.getByRole('button', { name: 'Replay the last change' }).click();
  await take(page, 'machine-replay');
  await page.goto('/inspect?actor=entity:default/web-2');
  await page.locator('.messages strong', { hasText: 'keepalive.received' }).first().waitFor();
  await take(page, 'inspector');
} finally {
  await browser.stop();
  for (const agent of agents) await agent.kill();
  await backend.stop();
}
