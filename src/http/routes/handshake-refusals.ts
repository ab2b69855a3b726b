import { json } from '../answers.ts';
import type { Route } from '../route.ts';

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
      handle: () => json(handshakeRefusals()),
    },
  ];
}
