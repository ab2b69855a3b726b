import axe from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { AgentProcess } from '../agent/agent-process.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { DashboardBrowser, logIn, needsChromium, type Observed } from './browser.ts';

const ENTITY = 'default/tester';
const ACTOR_PAGE = `/machines/entity/actors/${encodeURIComponent(ENTITY)}`;
const INSPECTOR = '/inspect?actor=entity:default/tester';
/** How long the chart may take after the entry of the ledger. Source: UI.md, case 29. */
const MAX_DELAY_MS = 500;
const KEEPALIVES = [
  '--keepalive-interval',
  '1',
  '--keepalive-warning-timeout',
  '5',
  '--keepalive-critical-timeout',
  '8',
];
const HOSTED = 'https://stately.ai/inspect';
/** What the hosted inspector does: it says that it is there, and receives messages. */
const HOSTED_PAGE = `<!doctype html><pre id="received"></pre><script>
  addEventListener('message', ({ data }) => { received.textContent += data.type + ' ' + (data.sessionId ?? '') + '\\n'; });
  parent.postMessage({ type: '@statelyai.connected' }, '*');
</script>`;

interface Entry {
  seq: number;
  atMs: number;
  to: string | null;
}

/** Notes in the page when each state of the chart became current, Unix ms. */
const NOTE_STATES = `
  globalThis.noted = {};
  const note = () => {
    for (const state of document.querySelectorAll('.chart [data-active="true"]')) noted[state.dataset.state] ??= Date.now();
  };
  new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true });
`;
/**
 * The rules of axe that a page breaks seriously, with the elements that break them. A page that changes while it is examined, because a
 * message arrives, is examined again: axe takes the colours of elements from the places where they were before.
 */
const BROKEN_RULES = `(async () => {
  for (;;) {
    let hasChanged = false;
    const observer = new MutationObserver(() => { hasChanged = true; });
    observer.observe(document.body, { subtree: true, childList: true });
    const { violations } = await axe.run();
    observer.disconnect();
    if (hasChanged) continue;
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html + ' ' + any.map(({ message }) => message).join()).join(' '));
  }
})()`;

describe('the charts of state machines in a browser', function () {
  this.timeout(90_000);
  let backend: BackendProcess;
  let api: ApiClient;
  let agent: AgentProcess;
  let browser: DashboardBrowser;
  let opened: { page: Page; observed: Observed };

  const startAgent = (): AgentProcess =>
    AgentProcess.start(`ws://127.0.0.1:${backend.agentPort}`, '--subscriptions', 'linux', ...KEEPALIVES);
  const isActive = (page: Page, state: string) =>
    page.locator(`.chart [data-state="${state}"][data-active="true"]`).first();

  before(async function () {
    needsChromium(this);
    backend = await BackendProcess.start({ args: ['--inspect'] });
    api = await backend.login();
    agent = startAgent();
    const entity = await eventually(
      () => api.get('/api/mon/v1/actors/entity:default%2Ftester'),
      ({ status }) => status === 200,
      {
        what: 'a registered agent',
        withinMs: 15_000,
      },
    );
    expect(entity.json).to.have.property('machine', 'entity');
    browser = await DashboardBrowser.start(backend.dashboardPort);
    opened = await browser.openAt(ACTOR_PAGE);
  });

  after(async () => {
    await browser?.stop();
    await agent?.kill();
    await backend?.stop();
  });

  async function lastEntry(to: string): Promise<Entry> {
    const { json } = await api.get('/api/mon/v1/actors/entity:default%2Ftester/ledger');
    const found = (json as { entries: Entry[] }).entries.find((entry) => entry.to === to);
    if (found === undefined) throw new Error(`the ledger has no entry to ${to}`);
    return found;
  }

  it('show the nested state of an agent, its deadline and what can happen next', async () => {
    const { page } = opened;
    await isActive(page, 'entity.registered.monitored').waitFor();
    expect(await page.locator('[data-current]').getAttribute('data-current')).to.equal('monitored');
    await page.locator('.actor-facts .countdown').waitFor();
    expect(await page.locator('.next-steps').innerText()).to.include('No keepalive came within the warning timeout.');
    expect(await page.locator('.context').innerText()).to.include('lastReceivedAtMs');
  });

  it('29: move to warning and to critical within 500 ms of the entry in the ledger when the agent is killed', async () => {
    const { page } = opened;
    await page.evaluate(NOTE_STATES);
    await agent.kill();
    const delays: Record<string, number> = {};
    for (const state of ['warning', 'critical']) {
      await isActive(page, `entity.${state}`).waitFor({ timeout: 15_000 });
      const noted = await page.evaluate<Record<string, number>>('noted');
      delays[state] = (noted[`entity.${state}`] ?? Infinity) - (await lastEntry(state)).atMs;
    }
    process.stdout.write(
      `    chart after ledger entry: warning ${delays['warning']} ms, critical ${delays['critical']} ms\n`,
    );
    for (const delay of Object.values(delays)) expect(delay).to.be.within(0, MAX_DELAY_MS);
    expect(await isActive(page, 'entity.registered').count()).to.equal(0);
  });

  it('light the transition that was taken last, and list it in the ledger', async () => {
    const { page } = opened;
    await page.locator('[data-edge="entity.warning>entity.critical"][data-taken="true"]').waitFor();
    const { seq } = await lastEntry('critical');
    await page.locator(`.timeline [data-seq="${seq}"]`).waitFor();
    expect(await page.locator('.timeline li').first().getAttribute('data-seq')).to.equal(String(seq));
  });

  it('29: count the agents of each state in the gallery, and change without a reload', async () => {
    const { page } = await browser.openAt('/machines');
    const critical = page.locator('[data-count-of="entity.critical"] strong');
    await critical.filter({ hasText: '1' }).waitFor();
    expect(await page.locator('.machine-card').count()).to.equal(7);
    agent = startAgent();
    await critical.filter({ hasText: '0' }).waitFor({ timeout: 20_000 });
    await page.context().close();
  });

  it('play the outage from the ledger, with a slider', async () => {
    const { page } = opened;
    await isActive(page, 'entity.registered.monitored').waitFor({ timeout: 20_000 });
    await page.getByRole('button', { name: 'Replay the last change' }).click();
    const chart = page.locator('[data-actor="entity:default/tester"]');
    await chart.waitFor();
    const slider = page.getByRole('slider');
    const stateAt = async (step: string): Promise<string> => {
      await slider.fill(step);
      return (await chart.locator('header .state-name').innerText()).trim();
    };
    const steps = Number(await slider.getAttribute('max'));
    const seen: string[] = [];
    for (let step = 0; step <= steps; step += 1) seen.push(await stateAt(String(step)));
    const path = seen.filter((state, index) => state !== seen[index - 1]);
    // The last entry before the outage tells the inner state of its time.
    expect(path.join(' ')).to.match(/monitored warning critical monitored$/);
    await slider.fill('0');
    await page.getByRole('button', { name: 'Play' }).click();
    await eventually(
      () => slider.inputValue(),
      (value) => value === String(steps),
      { what: 'the end', withinMs: 30_000 },
    );
    expect(new URL(page.url()).searchParams.get('seq')).to.match(/^\d+$/);
  });

  it('draw the messages of the inspector without another host', async () => {
    const { page, observed } = await browser.openAt(INSPECTOR);
    await page.locator('[data-session="entity:default/tester"][data-value="registered.monitored"]').waitFor();
    await page.locator('.messages strong', { hasText: 'keepalive.received' }).first().waitFor({ timeout: 10_000 });
    expect(observed).to.deep.equal({ foreign: [], errors: [] });
    await page.context().close();
  });

  it('give the hosted inspector the same messages, only after a button, and load nothing else', async () => {
    const { page, context, observed } = await browser.open();
    await context.route('https://stately.ai/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: HOSTED_PAGE }),
    );
    await page.goto('/debug/inspect?actor=entity:default/tester');
    await logIn(page);
    const load = page.getByRole('button', { name: /^Load https:\/\/stately\.ai/ });
    await load.waitFor();
    expect(observed.foreign).to.deep.equal([]);
    await load.click();
    const received = page.frameLocator('iframe').locator('#received');
    await received.filter({ hasText: '@xstate.snapshot entity:default/tester' }).waitFor({ timeout: 10_000 });
    expect(await received.innerText()).to.match(/^@xstate\.actor entity:default\/tester\n@xstate\.event/);
    expect(observed.foreign).to.deep.equal([HOSTED]);
    await context.close();
  });

  it('can be moved and scaled with the keyboard', async () => {
    const { page } = await browser.openAt('/machines/entity');
    const frame = page.getByRole('group', { name: /The chart of entity/ });
    const view = async (): Promise<number[]> =>
      ((await frame.locator('svg').getAttribute('viewBox')) ?? '').split(' ').map(Number);
    await frame.focus();
    const [x = 0, , width = 0] = await view();
    await page.keyboard.press('+');
    await eventually(view, ([, , now = 0]) => now < width);
    await page.keyboard.press('ArrowRight');
    await eventually(view, ([now = 0]) => now > x);
    await page.keyboard.press('0');
    await eventually(view, ([left, , now]) => left === x && now === width);
    await page.context().close();
  });

  for (const path of ['/machines', '/machines/entity', ACTOR_PAGE, INSPECTOR, '/debug/inspect']) {
    // Each scheme has a page of its own, as a user sees it whose system is light or dark.
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`have no serious violation of accessibility on ${path}, in ${colorScheme} colours, and fit 360 px`, async () => {
        const { page, observed } = await browser.openAt(path, { viewport: { width: 360, height: 740 }, colorScheme });
        if (path.startsWith('/machines') || path === INSPECTOR) await page.locator('.chart').first().waitFor();
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.equal(0);
        await page.evaluate(axe.source);
        expect(await page.evaluate(BROKEN_RULES)).to.deep.equal([]);
        expect(observed).to.deep.equal({ foreign: [], errors: [] });
        await page.context().close();
      });
    }
  }
});
