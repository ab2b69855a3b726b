import { expect } from 'chai';
import { BackendProcess } from '../support/backend-process.ts';
import { agentEntity } from '../support/example-events.ts';
import { eventually } from '../support/eventually.ts';
import { perSuite } from '../support/fixture.ts';

const OUTPUT_BYTES = 8_000_000;
/** The outputs of all of them do not fit in the memory of the backend. */
const NAMED = 120;
const HEAP_MIB = 256;
const EVENTS = '/api/core/v2/namespaces/default/events';
const SUMMARIES = '/api/mon/v1/namespaces/default/event-summaries';

describe('A8: a request for the summaries of many events with a large output', function () {
  this.timeout(120_000);
  const environment = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` };
  const backend = perSuite(() => BackendProcess.start({ environment }));
  const api = perSuite(() => backend.login());
  const agent = perSuite(() => backend.connect({ name: 'a1' }));

  it('does not end the backend: the summary of an event does not keep its output', async () => {
    const check = { metadata: { name: 'big', namespace: 'default' }, interval: 60, status: 2 };
    agent.send('event', {
      timestamp: Math.floor(Date.now() / 1_000),
      entity: agentEntity('a1'),
      check: { ...check, output: 'x'.repeat(OUTPUT_BYTES) },
    });
    await eventually(
      () => api.get(`${EVENTS}/a1/big`),
      ({ status }) => status === 200,
    );
    const names = Array.from({ length: NAMED }, () => 'event=a1/big').join('&');
    const { status, json } = await api.get(`${SUMMARIES}?${names}`);
    expect(status).to.equal(200);
    expect(json).to.have.length(NAMED);
    expect(await backend.stop()).to.equal(0);
  });
});
