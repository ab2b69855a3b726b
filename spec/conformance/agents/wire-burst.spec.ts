import { expect } from 'chai';
import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';

const BURST = 10_000;
/** The events sent at once; the test answers frames in between. */
const VOLLEY = 500;

describe('the agent port under a burst of events', () => {
  const backend = perSuite(() => BackendProcess.start());

  it(`case 9: answers pings within a second while ${BURST} events of another agent arrive, and stores them all`, async () => {
    const api = await backend.login();
    const sender = await backend.connect({ name: 'burst-sender' });
    const other = await backend.connect({ name: 'burst-other' });
    sender.send('keepalive', keepalive('burst-sender'));

    for (let n = 1; n <= BURST; n += 1) {
      sender.send('event', checkEvent('burst-sender', `c${n}`));
      if (n % VOLLEY === 0) expect(await other.ping(`after ${n}`)).to.be.below(1_000);
    }
    const last = await eventually(
      async () => {
        expect(await other.ping('x')).to.be.below(1_000);
        return api.event('burst-sender', `c${BURST}`);
      },
      (event) => event !== undefined,
      { what: 'the last event of the burst', withinMs: 15_000 },
    );
    expect(last).to.have.nested.property('check.occurrences', 1);
    expect((await api.get('/ns/default/events/burst-sender')).json).to.have.lengthOf(BURST + 1);
    expect(sender.isOpen).to.equal(true);
  });
});
