import { expect } from 'chai';
import { Heartbeat } from '../../../src/agent/connection/heartbeat.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the heartbeat of a connection', () => {
  let clock: ManualClock;
  let seen: string[];
  let heartbeat: Heartbeat;

  beforeEach(() => {
    clock = new ManualClock();
    seen = [];
    const settings = { intervalMs: 30_000, timeoutMs: 45_000 };
    heartbeat = new Heartbeat(settings, { ping: () => seen.push('ping'), lost: () => seen.push('lost') }, clock);
  });

  it('pings every 30 seconds', async () => {
    await clock.advance(29_999);
    expect(seen).to.deep.equal([]);
    await clock.advance(1);
    heartbeat.pong();
    await clock.advance(30_000);
    expect(seen).to.deep.equal(['ping', 'ping']);
  });

  it('reports the backend as lost after 45 seconds without a pong', async () => {
    await clock.advance(30_000);
    heartbeat.pong();
    await clock.advance(44_999);
    expect(seen).to.not.include('lost');
    await clock.advance(1);
    expect(seen).to.include('lost');
  });

  it('is silent once stopped', async () => {
    heartbeat.stop();
    await clock.advance(120_000);
    expect(seen).to.deep.equal([]);
  });
});
