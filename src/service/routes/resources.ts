import { route } from '../http/route.ts';
import { resourcesSchema } from '../schemas/account.ts';

/** interface §4.6 */
export const resourceRoutes = [
  route({
    method: 'GET',
    path: '/v1/resources',
    operation: {
      id: 'getResources',
      tag: 'Resources',
      summary: 'Models and the run options each accepts',
      description:
        'A client that sends the hash it holds as `cli-agent` is told by the header `action-require` on any answer that the models have changed.',
    },
    errors: [],
    data: resourcesSchema,
    async handle({ resources }) {
      return resources.current();
    },
  }),
];
