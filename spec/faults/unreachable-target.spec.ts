import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';
import { HandlerSink } from '../support/handler-sink.ts';
import { InProcessBackend } from '../support/in-process-backend.ts';
import { at } from '../support/json-path.ts';
import { freePort } from '../support/free-port.ts';

const CHECKS = 10;
const EVENTS_EACH = 5;
const RETRY_FOR_MS = 3_600_000;
const STEP_MS = 5_000;

describe('F20: a handler whose target is down for an hour, and then up', function () {
  this.timeout(120_000);
  const backend = perSuite(() =>
    InProcessBackend.start({ configure: (config) => ({ ...config, handlerRetryForMs: RETRY_FOR_MS }) }),
  );
  let api: ApiClient;
  let port: number;
  let sent = 0;

  before(async () => {
    api = await backend.login();
    port = await freePort();
    const socket = { host: '127.0.0.1', port };
    await api.put('/ns/default/handlers/down', {
      metadata: { name: 'down', namespace: 'default' },
      type: 'tcp',
      socket,
    });
    await api.put('/ns/default/handlers/fine', {
      metadata: { name: 'fine', namespace: 'default' },
      type: 'pipe',
      command: 'cat > /dev/null',
    });
  });

  async function putAll(round: number): Promise<void> {
    for (let n = 0; n < CHECKS; n += 1) {
      sent += 1;
      const event = proxyEvent('sw-1', `c${n}`, { status: 1, output: `${round}`, handlers: ['down', 'fine'] });
      const { status, text } = await api.put(`/ns/default/events/sw-1/c${n}`, event);
      expect(status, text).to.equal(200);
    }
  }

  async function outcomesOf(check: string): Promise<object[]> {
    const { json } = await api.get(`/api/mon/v1/namespaces/default/events/sw-1/${check}/notifications`);
    return (json as object[]).filter((one) => at(one, 'handler') === 'down');
  }

  /** What waits for its next attempt. One that runs at this moment has none. */
  async function retryingNow(): Promise<object[]> {
    const path = '/api/mon/v1/namespaces/default/notifications?outcome=waiting&handler=down';
    return eventually(
      async () => (await api.get(path)).json as object[],
      (all) => all.every((one) => at(one, 'state') === 'retrying' && at(one, 'next_attempt_at') !== null),
    );
  }

  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await backend.clock.advance(STEP_MS);
      await backend.clock.settle();
    }
  }

  it('delivers every notification in the order of its check, or records why it expired', async () => {
    await putAll(0);
    await pass(RETRY_FOR_MS / 2);
    const retrying = await retryingNow();
    expect(retrying).to.have.length(CHECKS);
    for (const one of retrying) {
      expect(at(one, 'next_attempt_at')).to.be.within(
        backend.clock.nowMs() / 1_000 - 1,
        backend.clock.nowMs() / 1_000 + 120,
      );
    }
    for (let round = 1; round < EVENTS_EACH; round += 1) await putAll(round);
    await pass(RETRY_FOR_MS / 2 + 60_000);
    await eventually(async () => (await outcomesOf('c0')).length === 1);
    const sink = await HandlerSink.listen(port);
    try {
      for (let waited = 0; waited < 120_000 && sink.events.length < sent - CHECKS; waited += STEP_MS)
        await pass(STEP_MS);
      await eventually(() => sink.events.length === sent - CHECKS, Boolean, { what: 'the events' });
      for (let n = 0; n < CHECKS; n += 1) {
        const received = sink.events.filter((event) => at(event, 'check', 'metadata', 'name') === `c${n}`);
        expect(received.map((event) => at(event, 'check', 'output'))).to.deep.equal(['1', '2', '3', '4']);
        const outcomes = await eventually(
          () => outcomesOf(`c${n}`),
          (all) => all.length === EVENTS_EACH,
        );
        const expired = outcomes.filter((one) => at(one, 'outcome') === 'failed');
        expect(expired).to.have.lengthOf(1);
        expect(expired[0]).to.include({ dead_letter: true });
        expect(at(expired[0], 'reason')).to.match(/^not handled within 3600 s: connect ECONNREFUSED/);
        expect(outcomes.filter((one) => at(one, 'outcome') === 'handled')).to.have.lengthOf(EVENTS_EACH - 1);
      }
    } finally {
      await sink.close();
    }
  });
});
