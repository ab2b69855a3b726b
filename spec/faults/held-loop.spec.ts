import { expect } from 'chai';
import { AgentProcess, testerFlags } from '../agent/agent-process.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { perSuite } from '../support/fixture.ts';
import { HostilePeer, tinyFrame } from './hostile-peer.ts';
import { TIMED, TimedProcess } from './timed-process.ts';

/** CPU time of the main thread. */
const HELD_MS = 100;
const REQUESTS = 3_000;
const WARM_UP = 300;
const BINARY = { opcode: 2 };

/** Sends requests on one connection in one go, and waits for all answers. */
async function pipeline(port: number, path: string, requests: number): Promise<void> {
  const peer = await HostilePeer.connect(port);
  peer.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(requests));
  const answers = (): number => peer.received.split('HTTP/1.1 ').length - 1;
  await eventually(answers, (count) => count === requests, { what: 'all answers', withinMs: 60_000, everyMs: 200 });
  peer.destroy();
}

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

  const BROKEN = tinyFrame(Buffer.from(`event\n{"entity":{},"check":{"metadata":{"name":"x"`), BINARY);
  const PING = tinyFrame(Buffer.alloc(0), { opcode: 9 });
  for (const [what, frame] of [
    ['broken messages', BROKEN],
    ['empty pings', PING],
  ] as const) {
    it(`with 20,000 ${what} in one go`, async () => {
      const send = async (): Promise<void> => {
        const peer = await HostilePeer.asAgent(backend.agentPort, { name: 'hostile' });
        peer.write(Buffer.concat(Array.from({ length: 20_000 }, () => frame)));
        const neighbour = await backend.connect({ name: 'neighbour' });
        for (let n = 0; n < 50; n += 1) await neighbour.ping(String(n), 60_000);
        peer.destroy();
        neighbour.terminate();
      };
      await send();
      expect(await longestTickMs(send)).to.be.below(HELD_MS);
    });
  }

  for (const port of ['apiPort', 'agentPort', 'dashboardPort'] as const) {
    it(`with 3,000 pipelined requests at its ${port}`, async () => {
      await pipeline(backend[port], '/health', WARM_UP);
      expect(await longestTickMs(() => pipeline(backend[port], '/health', REQUESTS))).to.be.below(HELD_MS);
    });
  }
});

describe('A8: one local client does not hold the event loop of an agent for 100 ms', function () {
  this.timeout(120_000);
  const agent = perSuite(
    () => new AgentProcess(testerFlags('ws://127.0.0.1:1', []), TIMED),
    (started) => started.kill(),
  );

  it('with 3,000 pipelined requests at its API', async () => {
    const address = /starting api on address: [^"]*:(\d+)/;
    const [, port] = (await eventually(() => address.exec(agent.stderr), Boolean)) ?? [];
    await pipeline(Number(port), '/version', WARM_UP);
    const timed = new TimedProcess({
      pid: agent.child.pid ?? 0,
      get logs() {
        return agent.stderr.split('\n');
      },
    });
    await timed.longestTickMs();
    await pipeline(Number(port), '/version', REQUESTS);
    expect(await timed.longestTickMs()).to.be.below(HELD_MS);
  });
});
