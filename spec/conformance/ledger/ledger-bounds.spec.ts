import { expect } from 'chai';
import { checkEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const CLAIMED_CHARACTERS = 2_000_000;
/** The length to which `claimed` is cut, including the ellipsis. */
const SHOWN_CHARACTERS = 203;
/** Less than any of the long texts alone. */
const MAX_LEDGER_CHARACTERS = 100_000;

describe('the ledger, when clients send long texts,', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const api = perSuite(() => backend.login());

  it('stores the claims of an agent up to a displayable length', async () => {
    for (let n = 0; n < 3; n += 1) {
      const agent = await ReportingAgent.connect(backend, `long-${n}`);
      const namespace = 'x'.repeat(CLAIMED_CHARACTERS);
      agent.socket.send('event', checkEvent(agent.name, 'c', {}, { metadata: { namespace } }));
      await agent.result('own');
      const [entry] = await api.ledger({ actor: 'agent', key: `default/${agent.name}` });
      expect(at(entry, 'details', 'claimed')).to.equal(`${'x'.repeat(SHOWN_CHARACTERS - 3)}...`);
    }
    const strange = await ReportingAgent.connect(backend, 'strange');
    strange.socket.send('event', checkEvent('strange', 'c', {}, { metadata: { namespace: 'a\u001b[2J\u202eb' } }));
    await strange.result('own');
    const [entry] = await api.ledger({ actor: 'agent', key: 'default/strange' });
    expect(at(entry, 'details', 'claimed')).to.equal('a\\u{1b}[2J\\u{202e}b');
  });

  it('stores the requests of a user up to a readable length', async () => {
    const metadata = { name: 'long', namespace: 'default' };
    await api.put('/ns/default/checks/long', { metadata, command: 'x', interval: 60, publish: false });
    const subscriptions = Array.from({ length: 1_000 }, (_, n) => `s${n}-${'x'.repeat(400)}`);
    expect((await api.post('/ns/default/checks/long/execute', { check: 'long', subscriptions })).status).to.equal(202);
    const entry = (await api.ledger({ actor: 'checks', key: 'default/long' })).at(-1);
    expect(at(entry, 'details', 'subscriptions')).to.deep.equal([...subscriptions.slice(0, 100), '... and 900 more']);
  });

  it('is listed as usual', async () => {
    const { status, text } = await api.get('/api/mon/v1/ledger');
    expect(status).to.equal(200);
    expect(text.length).to.be.below(MAX_LEDGER_CHARACTERS);
  });
});
