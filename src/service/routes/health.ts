import { waitAtMost } from '../core/clock.ts';
import { Refusal } from '../core/refusal.ts';
import { LIVENESS_PATH, READINESS_PATH } from '../http/health-paths.ts';
import { nothing } from '../http/schema.ts';
import { type AnyRoute, defineRoute } from './services.ts';

/** Time for the store to answer, in milliseconds: less than the two seconds that callers wait. */
const STORE_ANSWER_MS = 1500;

/**
 * Liveness and readiness checks for supervisors and load balancers, without a key and without
 * details.
 */
export const healthRoutes: readonly AnyRoute[] = [
  defineRoute({
    method: 'GET',
    path: LIVENESS_PATH,
    id: 'isAlive',
    tag: 'Health',
    summary: 'Check that the process is alive',
    description: 'Succeeds even if the database is unavailable.',
    errors: ['SERVICE_UNAVAILABLE_ERROR'],
    data: nothing,
    handle: () => Promise.resolve(null),
  }),
  defineRoute({
    method: 'GET',
    path: READINESS_PATH,
    id: 'isReady',
    tag: 'Health',
    summary: 'Check that the service is ready',
    description: 'Fails while the service is draining or stopping, or its store does not answer.',
    errors: ['SERVICE_UNAVAILABLE_ERROR'],
    data: nothing,
    async handle({ store, clock, draining }) {
      if (draining.aborted) throw new Refusal('UNAVAILABLE', 'the service is stopping');

      // Callers have no key, so the answer must not reveal where the store is or why it is
      // unavailable.
      const isAnswered = store.ping().then(
        () => true,
        () => false,
      );
      const isReady = await waitAtMost(STORE_ANSWER_MS, clock, isAnswered);
      if (isReady !== true) throw new Refusal('UNAVAILABLE', 'the store does not answer');
      return null;
    },
  }),
];
