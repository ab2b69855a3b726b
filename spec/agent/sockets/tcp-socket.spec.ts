import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { TcpSocket } from '../../../src/agent/sockets/tcp-socket.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { systemClock } from '../../../src/main/process/system-clock.ts';
import { InvalidResource } from '../../../src/resources/errors.ts';
import type { Event } from '../../../src/resources/event.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

const MIB = 1024 * 1024;

describe('the TCP socket of the agent', () => {
  const lists: (readonly Event[])[] = [];
  /** The silences after which a result is parsed. */
  const quiet = { delaysMs: [] as number[], fired: 0 };
  const clock: Clock = {
    ...systemClock,
    after: (delayMs, fire) => {
      if (delayMs > 1_000) return systemClock.after(delayMs, fire);
      quiet.delaysMs.push(delayMs);
      return systemClock.after(delayMs, () => {
        fire();
        quiet.fired += 1;
      });
    },
  };
  const socket = perTest(
    async () => {
      lists.length = 0;
      Object.assign(quiet, { delaysMs: [], fired: 0 });
      const accept = (events: readonly Event[]): void => {
        if (events.some(({ check }) => check?.metadata.name === 'bad name')) throw new InvalidResource('bad');
        lists.push(events);
      };
      const server = new TcpSocket({ clock, log: new RecordedLog(), accept });
      return { server, port: await server.listen('127.0.0.1', 0) };
    },
    ({ server }) => server.close(),
  );
  const connected = () => connect({ port: socket.port, host: '127.0.0.1', allowHalfOpen: true });

  async function answerTo(payload: string): Promise<string> {
    const client = connected();
    client.end(payload);
    return text(client);
  }

  it('takes all results of a list at once', async () => {
    const list = [
      { name: 'a', output: 'x' },
      { name: 'b', output: 'x' },
    ];
    expect(await answerTo(JSON.stringify(list))).to.equal('ok');
    expect(lists.map((events) => events.map(({ check }) => check?.metadata.name))).to.deep.equal([['a', 'b']]);
    expect(await answerTo(JSON.stringify([...list, { name: 'bad name', output: 'x' }]))).to.equal('invalid');
    expect(lists).to.have.lengthOf(1);
  });

  it('accepts no result once it is closed, and does not answer ok', async () => {
    const client = connected();
    client.write('{"name":"a",');
    await once(client, 'connect');
    // The exchange has begun when the socket answers another client.
    expect(await answerTo('ping')).to.equal('pong');
    socket.server.close();
    client.end('"output":"x"}');
    expect(await text(client)).to.equal('');
    expect(lists).to.deep.equal([]);
  });

  it('waits twice as long after each silence without a complete result', async () => {
    const client = connected();
    let silences = 0;
    for (const part of ['{"name":', '"a"', ',']) {
      client.write(part);
      silences += 1;
      await eventually(() => quiet.fired === silences);
    }
    client.end('"output":"x"}');
    expect(await text(client)).to.equal('ok');
    expect(quiet.delaysMs.slice(0, 3)).to.deep.equal([50, 100, 200]);
  });

  it('holds 64 MiB of incomplete results, and accepts others again when those have ended', async () => {
    const incomplete = `{"name":"a","output":"${'x'.repeat(9 * MIB)}`;
    const clients = Array.from({ length: 8 }, () => connected());
    const answers = clients.map((client) => {
      client.on('error', () => undefined).write(incomplete);
      return new Promise<string>((resolve) => {
        client.once('data', (answer) => resolve(String(answer)));
        client.once('close', () => resolve(''));
      });
    });
    const first = await Promise.race(answers);
    expect(first).to.be.oneOf(['invalid', '']);
    for (const client of clients) client.destroy();
    expect(await answerTo(JSON.stringify({ name: 'a', output: 'x' }))).to.equal('ok');
  });
});
