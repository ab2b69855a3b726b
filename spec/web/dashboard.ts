import type { BackendConfig } from '../../src/config/backend.ts';
import type { ApiClient } from '../support/api-client.ts';
import { perSuite } from '../support/fixture.ts';
import { InProcessBackend } from '../support/in-process-backend.ts';
import { RunningClock } from '../support/running-clock.ts';
import { DashboardBrowser, needsChromium } from './browser.ts';

interface Options {
  /** Creates what the tests of the suite show. */
  fill?: (api: ApiClient) => Promise<unknown>;
  configure?: (config: BackendConfig) => BackendConfig;
}

/** A browser on the dashboard of a backend, which runs in the process of the test in real time. */
export class Dashboard {
  readonly backend: InProcessBackend;
  readonly api: ApiClient;
  readonly browser: DashboardBrowser;

  private constructor(backend: InProcessBackend, api: ApiClient, browser: DashboardBrowser) {
    this.backend = backend;
    this.api = api;
    this.browser = browser;
  }

  static async start({ fill, configure }: Options = {}): Promise<Dashboard> {
    const backend = await InProcessBackend.start({ clock: new RunningClock(), ...(configure && { configure }) });
    try {
      const api = await backend.login();
      await fill?.(api);
      return new Dashboard(backend, api, await DashboardBrowser.start(backend.dashboardPort));
    } catch (error) {
      await backend.stop();
      throw error;
    }
  }

  readonly open: DashboardBrowser['open'] = (options) => this.browser.open(options);

  readonly openAt: DashboardBrowser['openAt'] = (path, options) => this.browser.openAt(path, options);

  async stop(): Promise<void> {
    await this.browser.stop();
    await this.backend.stop();
  }
}

/** One dashboard for all tests of the suite, which are skipped where no Chromium is installed. */
export function dashboardPerSuite(options: Options = {}): Dashboard {
  before(function () {
    needsChromium(this);
  });
  return perSuite(() => Dashboard.start(options));
}
