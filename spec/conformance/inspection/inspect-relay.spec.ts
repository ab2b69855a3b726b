import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type WebSocket, WebSocketServer } from 'ws';
import { parseActorAddresses } from '../../../src/resources/actor-address.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { type InspectMessage, outline } from '../../support/inspector-client.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const ENTITY = 'entity:default/web-01';
const LONGEST_WAIT_MS = 30_000;

/** A developer's relay, which keeps the messages of each connection. */
class Relay {
  readonly connections: InspectMessage[][] = [];
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket: WebSocket) => {
      const messages: InspectMessage[] = [];
      this.connections.push(messages);
      socket.on('message', (data) => messages.push(JSON.parse((data as Buffer).toString()) as InspectMessage));
      socket.send('{"type":"of another client"}');
    });
  }

  static async listen(port: number): Promise<Relay> {
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    await once(server, 'listening');
    return new Relay(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  drop(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  async close(): Promise<void> {
    this.drop();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }
}

describe('an inspector relay', () => {
  let relay: Relay;
  let backend: RestartableBackend;
  let agent: ReportingAgent;

  beforeEach(async () => {
    relay = await Relay.listen(await freePort());
    const inspectRelay = { url: `ws://127.0.0.1:${relay.port}`, addresses: parseActorAddresses([ENTITY]) };
    backend = await RestartableBackend.start({ configure: (config) => ({ ...config, inspectRelay }) });
    agent = await ReportingAgent.connect(backend, 'web-01');
    await eventually(() => relay.connections.length === 1);
  });

  afterEach(async () => {
    await backend.stop();
    await relay.close();
  });

  it('receives the messages of the configured actors', async () => {
    await agent.keepalive();
    await eventually(() => relay.connections[0]?.length === 3);
    expect(outline(relay.connections[0] ?? [])).to.deep.equal([
      'actor registered.unmonitored',
      'event keepalive.received',
      'snapshot keepalive.received registered.monitored',
    ]);
  });

  it('is reconnected when it closes, and receives the current snapshots first', async () => {
    await agent.keepalive();
    await eventually(() => relay.connections[0]?.length === 3);
    relay.drop();
    await eventually(() => backend.clock.advance(1_000).then(() => relay.connections.length === 2));
    await agent.keepalive();
    await eventually(() => relay.connections[1]?.length === 3);
    expect(outline(relay.connections[1] ?? [])).to.deep.equal([
      'actor registered.monitored',
      'event keepalive.received',
      'snapshot keepalive.received registered.monitored',
    ]);
  });

  it('is retried with growing waits of at most 30 s when it cannot be reached', async () => {
    const { port } = relay;
    await relay.close();
    const failures = (): number =>
      backend.log.lines.filter(({ msg }) => msg === 'inspector relay connection failed').length;
    for (let failed = 1; failed <= 7; failed += 1) {
      await eventually(() => backend.clock.advance(1_000).then(() => failures() >= failed));
    }
    relay = await Relay.listen(port);
    await backend.clock.advance(LONGEST_WAIT_MS);
    await eventually(() => relay.connections.length === 1);
  });
});
