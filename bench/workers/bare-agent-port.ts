import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import type * as Codecs from '../../src/wire/codec.ts';
import { decodeFrame, encodeFrame, eventNumberOf } from '../../src/wire/frame.ts';
import { built } from '../support/built.ts';
import type { Encoding } from '../support/event-frame.ts';

/** The raw limit of `ws`: a port that greets each connection, decodes and acknowledges each event, and stores nothing. */
export interface BareAgentPort {
  decodes: Encoding | 'nothing';
}

const { decodes } = JSON.parse(process.argv[2] ?? '{}') as BareAgentPort;
const { jsonCodec, protobufCodec } = await built<typeof Codecs>('wire/codec');
const codec = decodes === 'protobuf' ? protobufCodec : jsonCodec;
/** Enough for a crowd that connects at once, so that no connection attempt is repeated by the kernel. */
const BACKLOG = 4_096;
const GREETING = encodeFrame('entity_config', '{}');

const server = createServer();
const webSockets = new WebSocketServer({ server, perMessageDeflate: false, skipUTF8Validation: true });
/** The highest number of each connection, acknowledged once per tick of the event loop, like a batch. */
const toAcknowledge = new Map<WebSocket, number>();

function acknowledge(): void {
  for (const [socket, n] of toAcknowledge) socket.send(encodeFrame('ack', String(n)));
  toAcknowledge.clear();
}

webSockets.on('connection', (socket) => {
  socket.send(GREETING);
  if (decodes === 'nothing') return;
  socket.on('message', (message: Buffer) => {
    const { type, payload } = decodeFrame(message);
    codec.decodeEvent(payload);
    const n = eventNumberOf(type) ?? 0;
    if (n === 0) return;
    if (toAcknowledge.size === 0) setImmediate(acknowledge);
    toAcknowledge.set(socket, n);
  });
});
server.listen({ host: '127.0.0.1', port: 0, backlog: BACKLOG }, () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('disconnect', () => process.exit(0));
