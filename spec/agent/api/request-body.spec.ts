import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { readBody } from '../../../src/agent/api/request-body.ts';
import { ByteBudget } from '../../../src/agent/queue/byte-budget.ts';
import { perSuite } from '../../support/fixture.ts';

describe('the body of a request to the agent', () => {
  const budget = new ByteBudget(10);
  const server = perSuite(
    async () => {
      const listening = createServer((incoming, response) => {
        readBody(incoming, budget).then(
          (body) => response.end(body),
          (error: Error) => response.writeHead(503).end(error.message),
        );
      }).listen(0, '127.0.0.1');
      await once(listening, 'listening');
      return { port: (listening.address() as AddressInfo).port, close: () => listening.close() };
    },
    ({ close }) => close(),
  );
  const send = () => request({ port: server.port, host: '127.0.0.1', method: 'POST' });

  async function answerTo(...[sent]: [ReturnType<typeof send>]): Promise<string> {
    const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return text;
  }

  it('is refused while incomplete bodies use all the room', async () => {
    const open = send();
    open.write('12345678');
    const small = send();
    const refused = answerTo(small);
    while (budget.take(3)) {
      budget.give(3);
      await nextTick();
    }
    small.end('123456');
    expect(await refused).to.equal('too many events are being received');
    open.end();
    expect(await answerTo(open)).to.equal('12345678');
    const last = send();
    last.end('1234567890');
    expect(await answerTo(last)).to.equal('1234567890');
  });
});
