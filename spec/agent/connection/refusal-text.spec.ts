import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { refusalText } from '../../../src/agent/connection/refusal-text.ts';

describe('the description of a refused handshake', () => {
  async function described(status: number, type: string, body: string): Promise<string> {
    const server = createServer((_, response) => response.writeHead(status, { 'Content-Type': type }).end(body));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const [response] = (await once(get({ port: (server.address() as AddressInfo).port }), 'response')) as [
      IncomingMessage,
    ];
    const text = await refusalText(response);
    server.close();
    server.closeAllConnections();
    return text;
  }

  it('has the status and the body', async () => {
    expect(await described(503, 'application/json', '{"message":"full"}\n')).to.equal(
      'handshake failed with status 503: {"message":"full"}',
    );
  });

  it('names the agent port when the response is the page of the dashboard', async () => {
    expect(await described(200, 'text/html; charset=utf-8', '<!doctype html><p>mon')).to.equal(
      'handshake failed with status 200: the answer is a web page, as on the port of the dashboard; ' +
        'backend-url needs the port of the backend for agents, 8081 by default',
    );
  });
});
