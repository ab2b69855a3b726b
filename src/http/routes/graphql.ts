import { NotFound } from '../../resources/errors.ts';
import type { Route } from '../request/route.ts';

/** Clients of the reference post queries here, and nothing else: they are told at once that there is nothing to be asked. */
export const graphqlRoutes = (): Route[] => [
  {
    method: 'POST',
    path: '/graphql',
    access: 'open',
    reads: 'nothing',
    description: { summary: 'GraphQL, which is not served', tag: 'status', answers: {}, errors: ['not-found'] },
    handle: () => {
      throw new NotFound('GraphQL is not served');
    },
  },
];
