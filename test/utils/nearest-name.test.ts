import { expect, it } from 'vitest';
import { findNearestName } from '../../src/utils/nearest-name.ts';

it.each([
  ['qualty', 'quality'],
  ['Quality', 'quality'],
  ['raesoningEffort', 'reasoningEffort'],
  ['reason', 'reasoningEffort'],
  ['rea', undefined],
  ['colour', undefined],
  ['', undefined],
])('%j is taken for %j', (typed, nearest) => {
  expect(findNearestName(typed, ['quality', 'reasoningEffort', 'size'])).toBe(nearest);
});
