import { Type } from 'typebox';
import type { Route } from '../request/route.ts';
import type { Tickets } from '../../auth/tickets.ts';

const TicketSchema = Type.Object(
  {
    ticket: Type.String(),
    expires_at: Type.Integer({ description: 'Unix seconds; the ticket is valid before that second' }),
  },
  { $id: 'mon/v1.Ticket' },
);

export interface TicketRoutePorts {
  tickets: Pick<Tickets, 'issue'>;
}

/** Permission for the WebSocket is checked when the ticket is used. */
export function ticketRoutes({ tickets }: TicketRoutePorts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/mon/v1/tickets',
      access: 'authenticated',
      reads: 'nothing',
      description: {
        summary: 'Create a ticket for one WebSocket connection',
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
