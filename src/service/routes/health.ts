import { type AnyRoute, route } from '../http/route.ts';
import { nothing } from '../schemas/schema.ts';

/** For what decides whether this process is restarted, and whether it gets requests; no key, no details. */
export const healthRoutes: readonly AnyRoute[] = [
  route({
    method: 'GET',
    path: '/healthz',
    operation: {
      id: 'isAlive',
      tag: 'Health',
      summary: 'Whether the process is alive',
      description: 'Answers whatever state its database is in.',
    },
    errors: ['SERVICE_UNAVAILABLE_ERROR'],
    data: nothing,
    handle: () => Promise.resolve(null),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    operation: {
      id: 'isReady',
      tag: 'Health',
      summary: 'Whether requests can be answered',
      description: 'Refuses while the service is stopping or its database is away.',
    },
    errors: ['SERVICE_UNAVAILABLE_ERROR'],
    data: nothing,
    async handle({ store }) {
      await store.ping();
      return null;
    },
  }),
];
