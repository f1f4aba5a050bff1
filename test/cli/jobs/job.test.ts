import { expect, it } from 'vitest';
import { sumOfSeconds } from '../../../src/cli/jobs/job.ts';

it('sums seconds without digits beyond the millisecond', () => {
  expect(0.011 + 0.01).not.toBe(0.021);
  expect(sumOfSeconds([0.011, 0.01])).toBe(0.021);
  expect(sumOfSeconds([1.5, null])).toBe(1.5);
});
