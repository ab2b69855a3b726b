import { expect } from 'chai';
import { BackendProcess } from '../support/backend-process.ts';
import { perSuite } from '../support/fixture.ts';
import { HostilePeer, tinyFrame } from './hostile-peer.ts';
import { TIMED, TimedProcess } from './timed-process.ts';

/** CPU time of the main thread. */
const HELD_MS = 100;
const BINARY = { opcode: 2 };

describe('A8: one peer does not hold the event loop for 100 ms', function () {
  this.timeout(120_000);
  const backend = perSuite(() => BackendProcess.start({ environment: TIMED }));

  /** Returns the longest tick while `act` ran. */
  async function longestTickMs(act: () => Promise<unknown>): Promise<number> {
    const timed = new TimedProcess(backend);
    await timed.longestTickMs();
    await act();
    return timed.longestTickMs();
  }

  it('with 20,000 broken messages in one go', async () => {
    const broken = tinyFrame(Buffer.from(`event\n{"entity":{},"check":{"metadata":{"name":"x"`), BINARY);
    const send = async (): Promise<void> => {
      const peer = await HostilePeer.asAgent(backend.agentPort, { name: 'broken' });
      peer.write(Buffer.concat(Array.from({ length: 20_000 }, () => broken)));
      const neighbour = await backend.connect({ name: 'neighbour' });
      for (let n = 0; n < 50; n += 1) await neighbour.ping(String(n), 60_000);
      peer.destroy();
      neighbour.terminate();
    };
    await send();
    expect(await longestTickMs(send)).to.be.below(HELD_MS);
  });
});
