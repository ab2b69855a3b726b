import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { ApiRequest } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { perSuite } from '../support/fixture.ts';

/** The bound is 100 ms on an idle machine. Without it, these requests took 0.9 seconds to many minutes, except for the labels. */
const MAX_DELAY_MS = 250;
const WITHIN_MS = 120_000;
const EVENTS = 70;
const NAMESPACE = '/api/core/v2/namespaces/default';

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `name-${n}`);
const meta = (name: string, more: object = {}): object => ({ metadata: { name, namespace: 'default', ...more } });
const list = (item: string, count: number): string => `[${Array.from({ length: count }, () => item).join(',')}]`;
const selecting = (condition: string, count: number): string =>
  `${NAMESPACE}/events?fieldSelector=${encodeURIComponent(condition).repeat(count)}`;

const EVENT = {
  entity: { entity_class: 'proxy', subscriptions: names(1_000), ...meta('web') },
  check: { interval: 60, subscriptions: names(1_000), ...meta('c') },
};

const REQUESTS: Record<string, [status: number, request: ApiRequest]> = {
  'an event with 160,000 hooks': [
    400,
    {
      method: 'PUT',
      path: `${NAMESPACE}/events/web/c`,
      body: `{"entity":${JSON.stringify(EVENT.entity)},"check":{"hooks":${list('{}', 160_000)}}}`,
    },
  ],
  'an entity with 25,000 labels': [
    400,
    {
      method: 'PUT',
      path: `${NAMESPACE}/entities/labels`,
      body: meta('labels', { labels: Object.fromEntries(names(25_000).map((name) => [name, ''])) }),
    },
  ],
  'a silence with a long subscription': [
    400,
    {
      method: 'POST',
      path: `${NAMESPACE}/silenced`,
      body: { metadata: { namespace: 'default' }, subscription: `${'a'.repeat(500_000)}!` },
    },
  ],
  'a selector with 1,400 conditions': [400, { method: 'GET', path: selecting('event.check.subscriptions!=b ', 1_400) }],
  'a selector with 99 conditions on long lists': [
    200,
    { method: 'GET', path: `${selecting('b notin event.check.subscriptions ', 99)}&limit=${EVENTS}` },
  ],
};

describe('A8: one expensive request', () => {
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());
  const neighbour = perSuite(() => backend.connect({ name: 'neighbour' }));

  before(async () => {
    for (let n = 0; n < EVENTS; n += 1) {
      const { status } = await api.put(`${NAMESPACE}/events/web/c${n}`, {
        ...EVENT,
        check: { ...EVENT.check, ...meta(`c${n}`) },
      });
      expect(status).to.equal(200);
    }
  });

  for (const [what, [expected, request]] of Object.entries(REQUESTS)) {
    it(`delays its neighbours by less than ${MAX_DELAY_MS} ms: ${what}`, async () => {
      // The delay of this process's own event loop is not the backend's, so it is added to the limit.
      const machine = monitorEventLoopDelay({ resolution: 1 });
      machine.enable();
      let isAnswered = false;
      const answer = api.request(request).finally(() => (isAnswered = true));
      let longestMs = 0;
      for (let n = 0; !isAnswered; n += 1) {
        longestMs = Math.max(longestMs, await neighbour.ping(`${what.length}-${n}`, WITHIN_MS));
        await delay(1);
      }
      machine.disable();
      expect((await answer).status).to.equal(expected);
      expect(longestMs, 'ms').to.be.below(MAX_DELAY_MS + machine.max / 1_000_000);
    });
  }
});
