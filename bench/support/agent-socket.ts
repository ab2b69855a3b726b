import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { DEFAULT_AGENT_PASSWORD } from '../../src/actors/administration/initial-resources.ts';
import { MEDIA_TYPE_PROTOBUF } from '../../src/wire/codec.ts';
import { helloHeaders, MEDIA_TYPE_JSON } from '../../src/wire/handshake.ts';
import type { Encoding } from './event-frame.ts';

export interface AgentSocketOptions {
  port: number;
  name: string;
  encoding: Encoding;
  /** Whether its events are acknowledged. */
  numbersEvents: boolean;
}

/** The headers that an agent connects with; `queueId` asks for acknowledgements. */
export function agentHello(name: string, mediaType: string, queueId?: string): Record<string, string> {
  const hello = { agentName: name, namespace: 'default', subscriptions: [], user: 'agent', queueId };
  const credentials = { username: 'agent', password: DEFAULT_AGENT_PASSWORD };
  return helloHeaders(hello, credentials, { accept: mediaType, contentType: mediaType });
}

/** A connection of an agent that is still opening. Its mask is zero, so that masking costs the sender nothing. */
export function agentSocket({ port, name, encoding, numbersEvents }: AgentSocketOptions): WebSocket {
  const mediaType = encoding === 'protobuf' ? MEDIA_TYPE_PROTOBUF : MEDIA_TYPE_JSON;
  const queueId = numbersEvents ? randomUUID() : undefined;
  return new WebSocket(`ws://127.0.0.1:${port}`, {
    headers: agentHello(name, mediaType, queueId),
    perMessageDeflate: false,
    generateMask: (mask) => void mask.fill(0),
  });
}
