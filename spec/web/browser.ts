import { existsSync } from 'node:fs';
import type { Context } from 'mocha';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { ADMIN } from '../support/api-client.ts';

/** The headless build first: it draws no windows, and needs half of the processor time. */
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The installed Chromium; undefined without one. `CHROMIUM` names another one. */
export const CHROMIUM = [process.env['CHROMIUM'], ...PATHS].find((path) => path !== undefined && existsSync(path));

let isSkipReported = false;

/** Skips the tests of a suite where no Chromium is installed, and says so once. */
export function needsChromium(context: Context): void {
  if (CHROMIUM !== undefined) return;
  if (!isSkipReported) process.stdout.write('    no Chromium is installed: the tests of the dashboard are skipped\n');
  isSkipReported = true;
  context.skip();
}

/** What a page did that it must not do. */
export interface Observed {
  /** Addresses of requests to other origins. */
  foreign: string[];
  /** Messages of errors: uncaught ones, violations of the policy, and failed requests. */
  errors: string[];
}

/** A headless browser on the dashboard of one backend. */
export class DashboardBrowser {
  readonly origin: string;
  readonly #browser: Browser;

  private constructor(browser: Browser, port: number) {
    this.#browser = browser;
    this.origin = `http://127.0.0.1:${port}`;
  }

  static async start(port: number): Promise<DashboardBrowser> {
    const browser = await chromium.launch({
      ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    });
    return new DashboardBrowser(browser, port);
  }

  stop(): Promise<void> {
    return this.#browser.close();
  }

  /** Opens a window of its own, like another browser. */
  async open(
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; context: BrowserContext; observed: Observed }> {
    const context = await this.#browser.newContext({ baseURL: this.origin, reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    const observed: Observed = { foreign: [], errors: [] };
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(this.origin) && !url.startsWith('data:')) observed.foreign.push(url);
    });
    page.on('pageerror', (error) => observed.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') observed.errors.push(message.text());
    });
    return { page, context, observed };
  }

  /** Opens a window in which the administrator is logged in, at a path. */
  async openAt(path: string, options: BrowserContextOptions = {}) {
    const opened = await this.open(options);
    await opened.page.goto(path);
    await logIn(opened.page);
    return opened;
  }
}

export async function logIn(page: Page, { username, password } = ADMIN): Promise<void> {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('#main:not(.login)').waitFor();
}
