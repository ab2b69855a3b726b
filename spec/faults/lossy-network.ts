import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { at } from '../support/json-path.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { LossyProxy } from './lossy-proxy.ts';
import { startRealAgent } from './real-agents.ts';

const WEATHER = { delayMs: 2_000, loss: 0.5 };
const NAME = 'far-away';

export interface Recovery {
  /** For each check, the seconds from the end of the bad weather to its next run. */
  seconds: number[];
  /** Keepalive alerts of the agent during the bad weather and after it. */
  alerts: number;
}

/** Runs checks over a network with 50 % loss and 2 s delay for a time, and measures how they go on when it is healed. */
export async function surviveLoss(checks: number, intervalS: number, badMs: number): Promise<Recovery> {
  const backend = await BackendProcess.start();
  const random = new SeededRandom(10);
  const proxy = await LossyProxy.to(backend.agentPort, () => random.next());
  const agent = startRealAgent(NAME, proxy.port, { intervalS: 5, warningS: 60, criticalS: 0 });
  const names = Array.from({ length: checks }, (_, index) => `check-${index}`);
  try {
    const api = await backend.login();
    await eventually(() => api.event(NAME, 'keepalive'), Boolean, { what: 'the keepalive', withinMs: 20_000 });
    for (const name of names) {
      const check = { command: 'true', interval: intervalS, publish: true, subscriptions: [`entity:${NAME}`] };
      await api.put(`/ns/default/checks/${name}`, { metadata: { name, namespace: 'default' }, ...check });
    }
    await Promise.all(names.map((name) => runAfter(api, name, 0)));
    proxy.worsen(WEATHER);
    await delay(badMs);
    proxy.heal();
    const healedS = Date.now() / 1_000;
    const seconds = await Promise.all(names.map(async (name) => (await runAfter(api, name, healedS)) - healedS));
    const keepalive = await api.event(NAME, 'keepalive');
    const history = (at(keepalive, 'check', 'history') ?? []) as { status: number }[];
    return { seconds, alerts: history.filter(({ status }) => status > 0).length };
  } finally {
    await agent.kill();
    proxy.stop();
    await backend.stop();
  }
}

/** The time of the first run of the check after a time, in seconds. */
async function runAfter(api: ApiClient, check: string, afterS: number): Promise<number> {
  const executed = async () => Number(at(await api.event(NAME, check), 'check', 'executed') ?? 0);
  return eventually(executed, (atS) => atS > afterS, { what: `a run of ${check}`, withinMs: 60_000, everyMs: 100 });
}
