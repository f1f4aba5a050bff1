import { within } from '../core/clock.ts';
import { Refusal } from '../core/refusal.ts';
import { nothing } from '../http/schema.ts';
import { type AnyRoute, route } from './route.ts';

/** How long the store may take to answer, in milliseconds: whoever asks wants to know within two seconds. */
const READY_WITHIN_MS = 1500;

/** For what decides whether this process is restarted, and whether it gets requests; no key, no details. */
export const healthRoutes: readonly AnyRoute[] = [
  route({
    method: 'GET',
    path: '/healthz',
    id: 'isAlive',
    tag: 'Health',
    summary: 'Whether the process is alive',
    description: 'Answers whatever state its database is in.',
    errors: ['SERVICE_UNAVAILABLE_ERROR'],
    data: nothing,
    handle: () => Promise.resolve(null),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    id: 'isReady',
    tag: 'Health',
    summary: 'Whether requests can be answered',
    description: 'Refuses while the service is draining or stopping, or its store does not answer.',
    errors: ['SERVICE_UNAVAILABLE_ERROR'],
    data: nothing,
    async handle({ store, clock, draining }) {
      if (draining.aborted) throw new Refusal('UNAVAILABLE', 'the service is about to stop');
      // Whoever asks has no key: where the store is, and why it is away, is not for them.
      const answer = store.ping().then(
        () => true,
        () => false,
      );
      const answers = await within(READY_WITHIN_MS, clock, answer);
      if (answers !== true) throw new Refusal('UNAVAILABLE', 'the store does not answer');
      return null;
    },
  }),
];
