import { sleep } from '../../client/signals.ts';
import type { Clock } from './types.ts';

/** The machine's own time and chance. */
export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep,
};
