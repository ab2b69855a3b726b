import { mkdir, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { assetEnvironment } from '../../src/assets/asset-environment.ts';
import { AssetFailed } from '../../src/assets/asset-failed.ts';
import type { AssetManager } from '../../src/assets/asset-manager.ts';
import { runCommand } from '../../src/exec/process-group.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { parseAssetShape } from '../../src/resources/asset.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { perSuite } from '../support/fixture.ts';
import { readGolden } from '../support/golden-file.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { AssetInstallation } from './asset-installation.ts';

interface Route {
  base64?: string;
  status?: number;
  location?: string;
  text?: string;
  short?: number;
  delay_ms?: number;
}

interface Step {
  op: string;
  note?: string;
  flags?: string[];
  path?: string;
  /** Whether the step is for one of the programs only. */
  only?: 'ours' | 'reference';
  request?: { assets?: object[]; config: { command: string } };
  expect?: { check?: { output: string }; exists?: boolean } | object[];
  ours?: { check?: { output: string } };
}

interface Scenario {
  scenario: string;
  routes: Record<string, Route>;
  steps: Step[];
}

const { scenarios } = JSON.parse(readGolden('agent/15-assets.json')) as { scenarios: Scenario[] };

const SYSTEM = { os: 'linux', arch: 'amd64' };
const ENTITY = { system: SYSTEM, labels: { role: 'db' }, annotations: { tier: 'gold', tok: 'abc' } };
/** A port on which nothing listens. */
const DEAD_PORT = '1';
const FAILED = 'error getting assets for check: ';
/** Tokens in assets are filled by the agent, before it installs them. */
const HAS_TOKEN = /\{\{/;
/** These recordings are of the agent's requests to run checks, which it does not have here. */
const ONLY_FOR_AGENTS = new Set(['serialised-and-slow', 'hook-assets']);

/** The text of an output, with `<string>` for any. */
function pattern(text: string): RegExp {
  const escaped = text.split('<string>').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('[\\s\\S]+')}$`);
}

describe('assets as the reference installs them', () => {
  const sandbox = perSuite(() => new Sandbox({ clock: systemClock, log: new RecordedLog() }));

  async function selects(filters: readonly string[], entity: unknown): Promise<boolean> {
    const task = { programs: filters, variable: 'entity', values: [JSON.stringify(entity)] };
    const owner = { namespace: 'default', name: 'asset' };
    const [result] = await sandbox.evaluate({ ...task, nowMs: systemClock.nowMs(), limitMs: 1_000 }, owner);
    if (result?.type === 'holds' || result?.type === 'fails') return result.type === 'holds';
    throw new Error(result?.error);
  }

  for (const { scenario, routes, steps } of scenarios.filter((recorded) => !ONLY_FOR_AGENTS.has(recorded.scenario))) {
    it(`are those of the recording ${scenario}`, async () => {
      const installation = await AssetInstallation.start();
      const filled = (value: unknown): unknown => {
        const text = JSON.stringify(value)
          .replaceAll('@files@', String(installation.server.port))
          .replaceAll('@dead@', DEAD_PORT)
          .replaceAll('@dir@/cache', installation.cacheDir)
          .replaceAll('@dir@', installation.outside);
        return JSON.parse(text) as unknown;
      };
      for (const [path, route] of Object.entries(routes)) serve(installation, path, filled(route) as Route);
      let manager = installation.manager();
      let compared = 0;
      try {
        for (const step of filled(steps) as Step[]) {
          if (step.op === 'start')
            manager = installation.manager(limitsOf(step.flags ?? []), { selects, entity: () => ENTITY });
          if (step.op === 'check' && !HAS_TOKEN.test(JSON.stringify(step.request))) {
            await mkdir(installation.cacheDir, { recursive: true });
            const { output } = ((step.ours ?? step.expect) as { check: { output: string } }).check;
            expect(await outputOf(manager, step), step.note).to.match(pattern(output));
            compared += 1;
          }
          if (step.op === 'path' && step.only !== 'reference') {
            const exists = await stat(step.path ?? '').then(
              () => true,
              () => false,
            );
            expect(exists, step.path).to.equal((step.expect as { exists: boolean }).exists);
          }
        }
      } finally {
        await installation.stop();
      }
      expect(compared).to.be.above(0);
    });
  }
});

function serve({ server }: AssetInstallation, path: string, route: Route): void {
  const body = Buffer.from(route.base64 ?? '', 'base64');
  server.serve(path, (_request, response) => {
    const { status = 200, location, text, short, delay_ms: delayMs = 0 } = route;
    void delay(delayMs).then(() => {
      if (short === undefined)
        return response.writeHead(status, location === undefined ? {} : { location }).end(text ?? body);
      response.writeHead(200, { 'content-length': short });
      return response.write('x', () => response.destroy());
    });
  });
}

function limitsOf(flags: readonly string[]) {
  const value = (flag: string) => Number(flags[flags.indexOf(flag) + 1]);
  return flags.includes('--assets-burst-limit')
    ? { burst: value('--assets-burst-limit'), tokensPerS: value('--assets-rate-limit') }
    : {};
}

/** What an agent reports of a check with these assets. */
async function outputOf(manager: AssetManager, { request }: Step): Promise<string> {
  try {
    const assets = await manager.install((request?.assets ?? []).map(parseAssetShape));
    const environment = [...assetEnvironment(assets)];
    const { output } = await runCommand({ command: request?.config.command ?? '', environment }, systemClock);
    return output;
  } catch (error) {
    if (error instanceof AssetFailed) return `${FAILED}${error.reason}`;
    throw error;
  }
}
