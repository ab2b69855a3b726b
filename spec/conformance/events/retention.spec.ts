import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { NotificationStore } from '../../../src/store/notification-store.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const DAY_MS = 86_400_000;
const ROUND_MS = 60_000;

describe('data that deleted entities leave behind', () => {
  const backend = perTest(() => RestartableBackend.start());
  let api: ApiClient;

  beforeEach(async () => {
    api = await backend.login();
  });

  /** Long enough for a sweep over everything. */
  async function after(days: number): Promise<void> {
    await backend.downFor(days * DAY_MS);
    await backend.clock.advance(ROUND_MS);
    api = await backend.login();
  }

  async function skipped(check: string): Promise<void> {
    const handler = {
      metadata: { name: 'nobody', namespace: 'default' },
      type: 'pipe',
      command: 'true',
      filters: ['none'],
    };
    await api.put('/ns/default/handlers/nobody', handler);
    await api.put(
      `/ns/default/events/gone-1/${check}`,
      proxyEvent('gone-1', check, { status: 1, handlers: ['nobody'] }),
    );
    await eventually(() => remembered(check), Boolean, { what: 'the notification' });
  }

  const remembered = (check: string) =>
    new NotificationStore(backend.store).ofEvent({ namespace: 'default', entity: 'gone-1', check }, 10);

  it('as notifications is removed a week after the last of them if the event is deleted', async () => {
    await skipped('gone');
    await skipped('kept');
    await api.delete('/ns/default/events/gone-1/gone');
    await after(6.9);
    expect(remembered('gone')).to.have.lengthOf(1);
    await after(0.2);
    expect(remembered('gone')).to.deep.equal([]);
    expect(remembered('kept')).to.have.lengthOf(1);
  });

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
