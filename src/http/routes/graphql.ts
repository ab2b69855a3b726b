import { NotFound } from '../../resources/errors.ts';
import type { Route } from '../request/route.ts';

/** Clients of the reference post queries here. They receive an immediate error. */
export const graphqlRoutes = (): Route[] => [
  {
    method: 'POST',
    path: '/graphql',
    access: 'open',
    reads: 'nothing',
    description: { summary: 'GraphQL endpoint (not supported)', tag: 'status', answers: {}, errors: ['not-found'] },
    handle: () => {
      throw new NotFound('GraphQL is not served');
    },
  },
];
