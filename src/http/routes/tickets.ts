import type { Route } from '../route.ts';
import type { Tickets } from '../tickets.ts';

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
      handle: ({ caller }) => ({
        status: 201,
        type: 'application/json',
        body: JSON.stringify(tickets.issue(caller)),
        headers: { 'Cache-Control': 'no-store' },
      }),
    },
  ];
}
