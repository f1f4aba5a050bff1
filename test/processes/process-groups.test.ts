import { expect, it } from 'vitest';
import { hasLed, parseMembers } from '../../src/processes/process-groups.ts';

const NOW = Date.UTC(2024, 0, 10);
const ago = (ms: number): number => NOW - ms;

it.each([
  ['   10       05', undefined],
  ['   10    00:05', 5000],
  ['10 01:02:03', 3_723_000],
  [' 10 2-00:00:01', 172_801_000],
])('reads how long a process of a group has run: %j', (line, ms) => {
  const members = parseMembers(`${line}\n`, NOW);
  expect(members).toEqual(ms === undefined ? [] : [{ groupId: 10, began: ago(ms) }]);
});

it.each([
  ['as old as its leader', 10, 60_000, true],
  ['begun while it was led', 10, 30_000, true],
  ['begun before its leader', 10, 90_000, false],
  ['begun after its leader can have been killed', 10, 5000, false],
  ['of another group', 11, 60_000, false],
])(
  'says for a member %s (group %i, %i ms old) if its leader led the group: %s',
  (_, groupId, ageMs, isExpected) => {
    const leader = { pid: 10, began: ago(60_000), ended: ago(20_000) };
    expect(hasLed(leader, [{ groupId, began: ago(ageMs) }])).toBe(isExpected);
  },
);
