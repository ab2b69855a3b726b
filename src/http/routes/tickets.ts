import { Type } from 'typebox';
import type { Route } from '../request/route.ts';
import type { Tickets } from '../../auth/tickets.ts';

const TicketSchema = Type.Object(
  {
    ticket: Type.String(),
    expires_at: Type.Integer({ description: 'Unix seconds; not valid in that second any more' }),
  },
  { $id: 'mon/v1.Ticket' },
);

export interface TicketRoutePorts {
  tickets: Pick<Tickets, 'issue'>;
}

/** What a ticket opens is decided when it is used. */
export function ticketRoutes({ tickets }: TicketRoutePorts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/mon/v1/tickets',
      access: 'authenticated',
      reads: 'nothing',
      description: {
        summary: 'Get a ticket for one WebSocket',
        tag: 'tickets',
        answers: { 201: { schema: TicketSchema } },
      },
      handle: ({ caller }) => ({
        status: 201,
        type: 'application/json',
        body: JSON.stringify(tickets.issue(caller)),
        headers: { 'Cache-Control': 'no-store' },
      }),
    },
  ];
}
