import { messageOf } from '../../files/error-utils.ts';
import { ApiError } from '../http/api-error.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { nothing } from '../schemas/schema.ts';

/** How long the store may take to answer, in milliseconds: whoever asks wants to know within two seconds. */
const READY_WITHIN_MS = 1500;

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
      description: 'Refuses while the service is stopping or its store does not answer.',
    },
    errors: ['SERVICE_UNAVAILABLE_ERROR'],
    data: nothing,
    async handle({ store, clock }) {
      const answered = new AbortController();
      const late = clock.sleep(READY_WITHIN_MS, answered.signal).then(() => {
        throw new Error('it does not answer in time');
      });
      try {
        await Promise.race([store.ping(), late]);
      } catch (error) {
        throw new ApiError('SERVICE_UNAVAILABLE_ERROR', `the store can't be used: ${messageOf(error)}`);
      } finally {
        answered.abort(new Error('the store has answered'));
        late.catch(() => {});
      }
      return null;
    },
  }),
];
