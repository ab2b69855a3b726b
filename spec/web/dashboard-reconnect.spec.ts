import { expect } from 'chai';
import { join } from 'node:path';
import { BackendProcess, initialiseState } from '../support/backend-process.ts';
import { freePort } from '../support/free-port.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { DashboardBrowser, needsChromium } from './browser.ts';
import { createExample, putEvent } from './example-data.ts';

describe('the dashboard while its backend is away', function () {
  this.timeout(60_000);
  let directory: TemporaryDirectory;
  let port: number;
  let backend: BackendProcess;
  let browser: DashboardBrowser;

  const start = (): Promise<BackendProcess> =>
    BackendProcess.start({ stateDir: join(directory.path, 'state'), args: [`--dashboard-port=${port}`] });

  before(async function () {
    needsChromium(this);
    directory = await temporaryDirectory();
    await initialiseState(join(directory.path, 'state'));
    port = await freePort();
    backend = await start();
    await createExample(await backend.login());
    browser = await DashboardBrowser.start(port);
  });

  after(async () => {
    await browser?.stop();
    await backend?.stop();
    await directory?.remove();
  });

  it('23: says within five seconds that it reconnects, and is right again without a reload or duplicates', async () => {
    const { page } = await browser.openAt('/n/default/events');
    await page.locator('.live-mark[data-live="true"]').waitFor();
    await page.locator('tr.row').first().waitFor();
    await backend.stop();
    await page.getByText('reconnecting').waitFor({ timeout: 5_000 });
    backend = await start();
    await putEvent(await backend.login(), 'meanwhile', 'disk', 2);
    await page.locator('.live-mark[data-live="true"]').waitFor({ timeout: 15_000 });
    await page.getByRole('button', { name: '1 new event' }).click();
    await page.locator('tr[data-key="meanwhile/disk"]').waitFor();
    const keys = await page.locator('tr.row').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key')));
    expect(new Set(keys).size).to.equal(keys.length);
    expect(keys).to.include('web-3/https');
  });
});
