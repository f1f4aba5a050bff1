import { expect, it } from 'vitest';
import { sumSeconds } from '../../../src/cli/jobs/job.ts';

it('sums seconds without digits beyond the millisecond', () => {
  expect(0.011 + 0.01).not.toBe(0.021);
  expect(sumSeconds([0.011, 0.01])).toBe(0.021);
  expect(sumSeconds([1.5, null])).toBe(1.5);
});
