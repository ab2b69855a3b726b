import { expect } from 'chai';
import { FairReading } from '../../src/sessions/fair-reading.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('reading of a connection that sends as fast as it can', () => {
  let calls: string[];
  const socket = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
  };

  beforeEach(() => {
    calls = [];
  });

  function frames(reading: FairReading, count: number): void {
    for (let n = 0; n < count; n += 1) reading.count();
  }

  it('goes on in the next turn after each thousand frames', async () => {
    const reading = new FairReading(socket, () => false);
    frames(reading, 999);
    await nextTurn();
    expect(calls).to.deep.equal([]);
    reading.count();
    expect(calls).to.deep.equal(['pause']);
    await nextTurn();
    expect(calls).to.deep.equal(['pause', 'resume']);
  });

  it('does not go on while the socket is paused for another reason', async () => {
    const reading = new FairReading(socket, () => true);
    frames(reading, 1_000);
    await nextTurn();
    expect(calls).to.deep.equal(['pause']);
  });
});
