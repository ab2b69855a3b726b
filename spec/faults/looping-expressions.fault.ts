import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type AgentClient, jsonOf } from '../support/agent-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { keepalive } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';

const LOOPS = 40;
const TICKS = 30;
const LEAST_TICKS = 0.9 * TICKS;
const FIRST_RUN_MS = 1_000;
/** A run may be late, as the last one of the measured ticks. */
const LATE_MS = 1_000;
const HOSTILE_ENTITIES = 5;
const HONEST_ENTITIES = 120;

/** The engine interrupts the first one. It cannot interrupt the second one, whose thread is terminated. */
const EXPRESSIONS = ['while (true) {}', 'new Array(1e9) + ""'];

describe('A5: expressions that do not end', function () {
  this.timeout(120_000);
  const backend = perTest(() => BackendProcess.start());
  let api: ApiClient;
  let agent: AgentClient;

  beforeEach(async () => {
    api = await backend.login();
    agent = await backend.connect({ name: 'runner', subscriptions: ['sys'] });
    agent.send('keepalive', keepalive('runner', { entity: { subscriptions: ['sys', 'entity:runner'] } }));
    await eventually(
      () => api.entity('runner'),
      (stored) => stored !== undefined,
    );
  });

  async function put(path: string, body: object): Promise<void> {
    const { status, text } = await api.put(path, body);
    expect(status, text).to.be.within(200, 201);
  }

  const entity = (namespace: string, name: string): Promise<void> =>
    put(`/ns/${namespace}/entities/${name}`, { entity_class: 'proxy', metadata: { name, namespace } });

  const check = (namespace: string, name: string, expression: string): Promise<void> =>
    put(`/ns/${namespace}/checks/${name}`, {
      metadata: { name, namespace },
      command: 'true',
      interval: 1,
      publish: true,
      subscriptions: ['sys'],
      proxy_requests: { entity_attributes: [expression] },
    });

  /** Counts the requests for the last entity, one of which follows from each tick. */
  async function ticks(): Promise<number> {
    let count = 0;
    while (agent.waitingFrames.length > 0) {
      const frame = await agent.nextFrame();
      const isLast = frame.type === 'check_request' && at(jsonOf(frame), 'config', 'proxy_entity_name') === 'z-last';
      if (isLast) count += 1;
    }
    return count;
  }

  for (const expression of EXPRESSIONS) {
    it(`let an honest check of another namespace run at 90 % of its ticks beside ${LOOPS} checks with ${expression}`, async () => {
      await put('/api/core/v2/namespaces/attack', { name: 'attack' });
      for (let n = 0; n < HOSTILE_ENTITIES; n += 1) await entity('attack', `victim-${n}`);
      for (let n = 0; n < HONEST_ENTITIES; n += 1) await entity('default', `router-${n}`);
      await entity('default', 'z-last');
      for (let n = 0; n < LOOPS; n += 1) await check('attack', `loop-${n}`, expression);
      await check('default', 'honest', 'entity.entity_class === "proxy"');
      await delay(FIRST_RUN_MS);
      await ticks();
      await delay(TICKS * 1_000 + LATE_MS);
      const ran = await ticks();
      console.log(`      ${ran} of ${TICKS} ticks ran`);
      expect(ran).to.be.at.least(LEAST_TICKS);
    });
  }
});
