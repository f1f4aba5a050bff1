import { jsonAnswer } from '../http/api-error.ts';
import { type AnyRoute, route } from '../http/route.ts';

const FINE = jsonAnswer(200, JSON.stringify({ status: 'SUCCESS', data: null }));

/** For whoever decides whether this process is restarted, and whether it gets requests; no key, no details. */
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
    handle: () => Promise.resolve(FINE),
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
    async handle({ store }) {
      await store.ping();
      return FINE;
    },
  }),
];
