import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { sessionStates } from '../../support/session-states.ts';

describe('the connection of an agent', () => {
  const backend = perTest(() => InProcessBackend.start());
  const api = perTest(() => backend.login());

  const wentThrough = (name: string, states: readonly string[]) =>
    eventually(
      () => sessionStates(api, name),
      (found) => JSON.stringify(found) === JSON.stringify(states),
      { what: `${states.join(', ')} of ${name}` },
    );

  it('case 64: is in warning after 45 s of silence, and is closed with 1001 after 60 s', async () => {
    const agent = await backend.connected({ name: 'live-silent', answersPings: false });
    await wentThrough('live-silent', ['registered']);
    await backend.clock.advance(44_000);
    await wentThrough('live-silent', ['registered']);
    await backend.clock.advance(1_000);
    await wentThrough('live-silent', ['registered', 'warning']);
    expect(agent.isOpen).to.equal(true);
    await backend.clock.advance(15_000);
    expect(await agent.closed()).to.deep.equal({ code: 1001, reason: 'bye' });
    await wentThrough('live-silent', ['registered', 'warning', 'critical', 'deregistered']);
  });

  it('case 64: is registered again after a frame at 50 s', async () => {
    const agent = await backend.connected({ name: 'live-late', answersPings: false });
    await backend.clock.advance(50_000);
    await wentThrough('live-late', ['registered', 'warning']);
    agent.send('keepalive', keepalive('live-late'));
    await wentThrough('live-late', ['registered', 'warning', 'registered']);
    await backend.clock.advance(44_000);
    await wentThrough('live-late', ['registered', 'warning', 'registered']);
    expect(agent.isOpen).to.equal(true);
  });

  it('stays registered while its agent answers the pings that come after 30 s of silence', async () => {
    const agent = await backend.connected({ name: 'live-answers' });
    for (let passedS = 0; passedS < 180; passedS += 10) {
      await backend.clock.advance(10_000);
      await agent.ping();
    }
    await wentThrough('live-answers', ['registered']);
  });

  it('case 63: stays registered and gets a pong every 10 s while reading is paused', async () => {
    const sender = await backend.connected({ name: 'live-sender' });
    const waiting = await backend.connected({ name: 'live-waiting', answersPings: false });
    await wentThrough('live-waiting', ['registered']);
    backend.store.failUntilHealed();
    sender.send('event', checkEvent('live-sender', 'c'));
    expect(await sender.closed()).to.have.property('code', 1011);

    waiting.send('event', checkEvent('live-waiting', 'c'));
    for (let pongs = 1; pongs <= 6; pongs += 1) {
      await backend.clock.advance(10_000);
      await eventually(() => waiting.pongs.length >= pongs, Boolean, { what: `pong ${pongs}` });
    }
    expect(waiting.isOpen).to.equal(true);
    expect(await api.event('live-waiting', 'c')).to.equal(undefined);

    backend.store.heal();
    await backend.clock.advance(1_000);
    await eventually(
      () => api.event('live-waiting', 'c'),
      (event) => event !== undefined,
      { what: 'the event that was sent meanwhile' },
    );
    await wentThrough('live-waiting', ['registered']);
    expect(await api.event('live-sender', 'c')).to.equal(undefined);
  });

  it('case 63: does not count paused reading as silence', async () => {
    const sender = await backend.connected({ name: 'live-sender' });
    await backend.connected({ name: 'live-quiet', answersPings: false });
    await wentThrough('live-quiet', ['registered']);
    await backend.clock.advance(30_000);
    backend.store.failUntilHealed();
    sender.send('event', checkEvent('live-sender', 'c'));
    expect(await sender.closed()).to.have.property('code', 1011);
    await backend.clock.advance(60_000);
    backend.store.heal();
    await backend.clock.advance(1_000);
    await backend.clock.advance(14_000);
    await wentThrough('live-quiet', ['registered']);
    await backend.clock.advance(2_000);
    await wentThrough('live-quiet', ['registered', 'warning']);
  });
});
