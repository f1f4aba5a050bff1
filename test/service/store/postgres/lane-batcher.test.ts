import { expect, test } from 'vitest';
import { LaneBatcher } from '../../../../src/service/store/postgres/lane-batcher.ts';

test('owners who share a lane take turns, however many items one of them has', async () => {
  const batches: string[][] = [];
  const lanes = new LaneBatcher<string, string>(async items => {
    batches.push([...items]);
    return items;
  }, 4);
  const many = Array.from({ length: 6 }, (_, index) => lanes.add('', `ann ${index + 1}`, 'ann'));
  const few = [
    lanes.add('', 'bob 1', 'bob'),
    lanes.add('', 'eve 1', 'eve'),
    lanes.add('', 'bob 2', 'bob'),
  ];

  expect(await Promise.all([...many, ...few])).toEqual([
    ...Array.from({ length: 6 }, (_, index) => `ann ${index + 1}`),
    'bob 1',
    'eve 1',
    'bob 2',
  ]);
  expect(batches).toEqual([
    ['ann 1', 'bob 1', 'eve 1', 'ann 2'],
    ['bob 2', 'ann 3', 'ann 4', 'ann 5'],
    ['ann 6'],
  ]);
});
