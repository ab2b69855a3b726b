import { Type } from 'typebox';
import { json } from '../answer/answers.ts';
import { lists } from '../openapi/descriptions.ts';
import type { Route } from '../request/route.ts';

const RefusalSchema = Type.Object(
  {
    address: Type.String({ description: 'Peer address without the port' }),
    namespace: Type.String({ description: 'As claimed by the peer, like agent and user' }),
    agent: Type.String(),
    user: Type.String(),
    status: Type.Integer({ description: 'HTTP status of the response' }),
    reason: Type.String(),
    first_at: Type.Integer({ description: 'Unix seconds' }),
    last_at: Type.Integer({ description: 'Unix seconds' }),
    count: Type.Integer(),
  },
  { $id: 'mon/v1.HandshakeRefusal' },
);

export interface HandshakeRefusalRoutePorts {
  /** The recent refusals, bounded in number, newest first. */
  handshakeRefusals(): readonly object[];
}

/** Lists recently rejected agents and the reasons. */
export function handshakeRefusalRoutes({ handshakeRefusals }: HandshakeRefusalRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/handshake-refusals',
      access: { resource: 'handshake-refusals', verb: 'list' },
      reads: 'nothing',
      description: lists('recently rejected agents, newest first', RefusalSchema, {}),
      handle: () => json(handshakeRefusals()),
    },
  ];
}
