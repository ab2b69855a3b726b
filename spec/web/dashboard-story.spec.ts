import { expect } from 'chai';
import { AgentProcess } from '../agent/agent-process.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { DashboardBrowser, needsChromium } from './browser.ts';

const KEEPALIVES = ['--keepalive-interval=1', '--keepalive-warning-timeout=5', '--keepalive-critical-timeout=8'];
const ALERT_WITHIN_MS = 20_000;

describe('the life of an agent in the dashboard', function () {
  this.timeout(90_000);
  let backend: BackendProcess;
  let browser: DashboardBrowser;
  let agent: AgentProcess;

  before(async function () {
    needsChromium(this);
    backend = await BackendProcess.start();
    const api = await backend.login();
    await api.put('/ns/default/handlers/keepalive', {
      metadata: { name: 'keepalive', namespace: 'default' },
      type: 'pipe',
      command: 'echo the pager is down >&2; exit 1',
      filters: ['is_incident', 'not_silenced'],
    });
    agent = AgentProcess.start(`ws://127.0.0.1:${backend.agentPort}`, ...KEEPALIVES);
    browser = await DashboardBrowser.start(backend.dashboardPort);
  });

  after(async () => {
    await agent?.kill();
    await browser?.stop();
    await backend?.stop();
  });

  it('is shown from its registration to the replay of a notification', async () => {
    const { page, observed } = await browser.openAt('/n/default/entities');
    await page.locator('tr[data-key="tester"]').waitFor();
    await page.goto('/n/default/agents');
    await page.locator('tr.row').getByText('registered').waitFor();

    await page.goto('/machines/entity/actors/default%2Ftester');
    await page.locator('.chart [data-state="entity.registered"][data-active="true"]').waitFor();
    await agent.kill();
    for (const state of ['warning', 'critical']) {
      await page
        .locator(`.chart [data-state="entity.${state}"][data-active="true"]`)
        .waitFor({ timeout: ALERT_WITHIN_MS });
    }

    await page.goto('/n/default/events/tester/keepalive');
    await page.getByText('Critical').first().waitFor();
    await page
      .getByRole('link', { name: /ledger entry/ })
      .first()
      .click();
    await page.getByText('verified by this browser').waitFor();
    await page.goBack();

    await page.getByRole('button', { name: 'Silence' }).click();
    await page.getByLabel('Reason').fill('we took it down');
    await page.getByRole('dialog').getByRole('button', { name: 'Silence' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.locator('[data-dry-run]').getByText('not_silenced').first().waitFor();
    await page.locator('[data-dry-run]').getByText('denied').waitFor();

    const replay = page.getByRole('button', { name: 'Replay' }).first();
    await replay.waitFor({ timeout: ALERT_WITHIN_MS });
    await replay.click();
    await page.getByText('keepalive runs again').waitFor();
    expect(observed).to.deep.equal({ foreign: [], errors: [] });
  });
});
