import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { send } from '../../../src/http/answer/send.ts';
import type { Answer } from '../../../src/http/request/route.ts';

const JSON_TYPE = 'application/json' as const;

describe('an answer that is sent', () => {
  async function received(answer: Answer) {
    const app = new Koa();
    app.use((context) => {
      send(context, answer);
    });
    const handle = app.callback();
    const server = createServer((request, response) => {
      void handle(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const { status, headers } = response;
      const [type, length, test] = ['content-type', 'content-length', 'x-test'].map((name) => headers.get(name));
      return { status, type, length, test, body: await response.text() };
    } finally {
      server.close();
    }
  }

  for (const characters of [1, 16_383, 16_384, 300_000]) {
    it(`with a body of length ${characters} arrives with its status, headers and Content-Length`, async () => {
      const body = 'ä'.repeat(characters);
      const answer = { status: 201, type: JSON_TYPE, body, headers: { 'X-Test': 'a' } };
      const expected = { status: 201, type: JSON_TYPE, length: String(2 * characters), test: 'a', body };
      expect(await received(answer)).to.deep.equal(expected);
      expect(await received({ ...answer, body: Buffer.from(body) })).to.deep.equal(expected);
    });
  }

  it('in parts arrives whole, without a Content-Length', async () => {
    const body = ['ä'.repeat(70_000), '', 'b'];
    expect(await received({ status: 200, type: JSON_TYPE, body })).to.deep.equal({
      status: 200,
      type: JSON_TYPE,
      length: null,
      test: null,
      body: body.join(''),
    });
  });

  it('without a body has its headers, and no type', async () => {
    const answer = { status: 204, headers: { 'X-Test': 'a' } };
    expect(await received(answer)).to.deep.equal({ status: 204, type: null, length: null, test: 'a', body: '' });
  });
});
