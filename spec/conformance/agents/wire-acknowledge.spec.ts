import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type AgentClient, jsonOf } from '../../support/agent-client.ts';
import { BackendProcess, initialiseState } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Reads acknowledgements up to this one. */
async function acknowledged(agent: AgentClient, n: number): Promise<void> {
  for (;;) {
    const frame = await agent.nextFrame();
    expect(frame.type).to.equal('ack');
    if (Number(jsonOf(frame)) >= n) return;
  }
}

describe('an acknowledgement', () => {
  it('case 61: is sent only for what survives a kill, and an event that is sent again is acknowledged and not counted', async () => {
    const directory = await temporaryDirectory();
    const queueId = randomUUID();
    const events = [1, 2, 3].map((n) => checkEvent('ack-kill', 'c', { status: 1, output: `m${n}` }));
    const backends: BackendProcess[] = [];
    try {
      await initialiseState(directory.path);
      const first = await BackendProcess.start({ stateDir: directory.path });
      backends.push(first);
      const agent = await first.connect({ name: 'ack-kill', queueId });
      expect(agent.header('mon-ack')).to.deep.equal(['1']);
      await agent.next('entity_config');
      for (const [index, event] of events.entries()) agent.send(`event ${index + 1}`, event);
      await acknowledged(agent, 3);
      await first.kill();

      const second = await BackendProcess.start({ stateDir: directory.path });
      backends.push(second);
      const api = await second.login();
      const survived = await api.event('ack-kill', 'c');
      expect(at(survived, 'check')).to.deep.include({ output: 'm3', occurrences: 3 });

      const again = await second.connect({ name: 'ack-kill', queueId });
      await again.next('entity_config');
      again.send('event 2', events[1]);
      await acknowledged(again, 2);
      expect(await api.event('ack-kill', 'c')).to.deep.equal(survived);

      again.send('event 4', checkEvent('ack-kill', 'c', { status: 1, output: 'm4' }));
      await acknowledged(again, 4);
      expect(at(await api.event('ack-kill', 'c'), 'check')).to.deep.include({ output: 'm4', occurrences: 4 });
    } finally {
      for (const backend of backends) await backend.stop();
      await directory.remove();
    }
  });
});

describe('a session with acknowledged events', () => {
  const backend = perTest(() => InProcessBackend.start());
  const api = perTest(() => backend.login());

  async function connected(name: string, queueId: string): Promise<AgentClient> {
    const agent = await backend.connected({ name, queueId });
    await backend.clock.settle();
    return agent;
  }

  /** The backend checks once a second whether the store can be written again. */
  const recovered = () => backend.clock.advance(1_000);

  it('case 62: is closed with 1011 when a commit fails; nothing is stored, and events sent again are stored once', async () => {
    const queueId = randomUUID();
    const events = [1, 2, 3].map((n) => checkEvent('ack-fail', 'c', { status: 1, output: `m${n}` }));
    const agent = await connected('ack-fail', queueId);
    backend.store.failNextWrites(1);
    for (const [index, event] of events.entries()) agent.send(`event ${index + 1}`, event);
    expect(await agent.closed()).to.have.property('code', 1011);
    expect(agent.waitingFrames).to.deep.equal([]);
    expect(await api.event('ack-fail', 'c')).to.equal(undefined);

    await recovered();
    const again = await connected('ack-fail', queueId);
    for (const [index, event] of events.entries()) again.send(`event ${index + 1}`, event);
    await acknowledged(again, 3);
    expect(at(await api.event('ack-fail', 'c'), 'check')).to.deep.include({ output: 'm3', occurrences: 3 });
  });

  it('keeps the events acknowledged before the failure and does not count them again', async () => {
    const queueId = randomUUID();
    const event = (n: number) => checkEvent('ack-part', 'c', { status: 1, output: `m${n}` });
    const agent = await connected('ack-part', queueId);
    agent.send('event 1', event(1));
    await acknowledged(agent, 1);
    backend.store.failNextWrites(1);
    agent.send('event 2', event(2));
    expect(await agent.closed()).to.have.property('code', 1011);
    expect(at(await api.event('ack-part', 'c'), 'check')).to.deep.include({ output: 'm1', occurrences: 1 });

    await recovered();
    const again = await connected('ack-part', queueId);
    for (const n of [1, 2]) again.send(`event ${n}`, event(n));
    await acknowledged(again, 2);
    expect(at(await api.event('ack-part', 'c'), 'check')).to.deep.include({ output: 'm2', occurrences: 2 });
  });

  it('gets an acknowledgement for a refused event, which is not stored', async () => {
    const agent = await connected('ack-refused', randomUUID());
    agent.send('event 1', checkEvent('ack-refused', 'c', { status: -1 }));
    await acknowledged(agent, 1);
    agent.send('event 2', checkEvent('ack-refused', 'd'));
    await acknowledged(agent, 2);
    expect(await api.event('ack-refused', 'c')).to.equal(undefined);
    expect(await api.event('ack-refused', 'd')).to.not.equal(undefined);
  });

  it('counts each queue of an agent separately', async () => {
    for (const [output, queueId] of [
      ['m1', randomUUID()],
      ['m2', randomUUID()],
    ] as const) {
      const agent = await connected('ack-queues', queueId);
      agent.send('event 1', checkEvent('ack-queues', 'c', { status: 1, output }));
      await acknowledged(agent, 1);
      expect(at(await api.event('ack-queues', 'c'), 'check', 'output')).to.equal(output);
    }
  });

  it('gets no acknowledgement without asking for them', async () => {
    const agent = await backend.connected({ name: 'ack-none' });
    agent.send('event', checkEvent('ack-none', 'c'));
    await eventually(
      () => api.event('ack-none', 'c'),
      (event) => event !== undefined,
    );
    await agent.ping('after the event');
    expect(agent.waitingFrames).to.deep.equal([]);
  });
});
