import { Type } from 'typebox';
import { json } from '../answer/answers.ts';
import { lists } from '../openapi/descriptions.ts';
import type { Route } from '../request/route.ts';

const RefusalSchema = Type.Object(
  {
    address: Type.String({ description: 'without the port' }),
    namespace: Type.String({ description: 'as the peer claimed; so are agent and user' }),
    agent: Type.String(),
    user: Type.String(),
    status: Type.Integer({ description: 'of the answer' }),
    reason: Type.String(),
    first_at: Type.Integer({ description: 'Unix seconds' }),
    last_at: Type.Integer({ description: 'Unix seconds' }),
    count: Type.Integer(),
  },
  { $id: 'mon/v1.HandshakeRefusal' },
);

export interface HandshakeRefusalRoutePorts {
  /** Newest first, as they are shown; a bounded number. */
  handshakeRefusals(): readonly object[];
}

/** Which agents were refused lately, and why. */
export function handshakeRefusalRoutes({ handshakeRefusals }: HandshakeRefusalRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/handshake-refusals',
      access: { resource: 'handshake-refusals', verb: 'list' },
      reads: 'nothing',
      description: lists('agents that were refused lately, newest first', RefusalSchema, {}),
      handle: () => json(handshakeRefusals()),
    },
  ];
}
