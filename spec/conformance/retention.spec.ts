import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { checkEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { RestartableBackend } from '../support/restartable-backend.ts';

const DAY_MS = 86_400_000;
const ROUND_MS = 60_000;

describe('data that deleted entities leave behind', () => {
  const backend = perTest(() => RestartableBackend.start());
  /** Long enough for a sweep over everything. */
  async function after(days: number): Promise<void> {
    await backend.downFor(days * DAY_MS);
    await backend.clock.advance(ROUND_MS);
  }

  it('as queues of agents is removed a month after the last use', async () => {
    const queueId = randomUUID();
    const agent = await backend.connect({ name: 'gone-2', queueId });
    agent.sendRaw(`event 1\n${JSON.stringify(checkEvent('gone-2', 'disk'))}`);
    expect(await agent.next('ack')).to.equal(1);
    const known = () => backend.store.get('agentQueues', 'default/gone-2');
    expect(known()).to.have.lengthOf(1);
    await after(29.9);
    expect(known()).to.have.lengthOf(1);
    await after(0.2);
    expect(known()).to.equal(undefined);
  });
});
