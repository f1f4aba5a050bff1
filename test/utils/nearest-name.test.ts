import { expect, it } from 'vitest';
import { findNearest } from '../../src/utils/nearest-name.ts';

it.each([
  ['qualty', 'quality'],
  ['Quality', 'quality'],
  ['raesoningEffort', 'reasoningEffort'],
  ['reason', 'reasoningEffort'],
  ['rea', undefined],
  ['colour', undefined],
  ['', undefined],
])('%j is taken for %j', (typed, nearest) => {
  expect(findNearest(typed, ['quality', 'reasoningEffort', 'size'])).toBe(nearest);
});
