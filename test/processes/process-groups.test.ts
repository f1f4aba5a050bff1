import { describe, expect, it } from 'vitest';
import { hasLed, parseMembers } from '../../src/processes/process-groups.ts';

const NOW = Date.UTC(2024, 0, 10);
const ago = (ms: number): number => NOW - ms;

it.each([
  { line: '   10    00:05', ageMs: 5000 },
  { line: '10 01:02:03', ageMs: 3_723_000 },
  { line: ' 10 2-00:00:01', ageMs: 172_801_000 },
])('reads how long a process of a group has run: $line', ({ line, ageMs }) => {
  expect(parseMembers(`${line}\n`, NOW)).toEqual([{ groupId: 10, began: ago(ageMs) }]);
});

it('reads no process from a line whose time has no minutes', () => {
  expect(parseMembers('   10       05\n', NOW)).toEqual([]);
});

describe('a process that began 60 s ago and ended 20 s ago', () => {
  const leader = { pid: 10, began: ago(60_000), ended: ago(20_000) };

  it.each([
    { name: 'as old as itself', ageMs: 60_000 },
    { name: 'that began while it was there', ageMs: 30_000 },
  ])('has led a group with a member $name', ({ ageMs }) => {
    expect(hasLed(leader, [{ groupId: 10, began: ago(ageMs) }])).toBe(true);
  });

  it.each([
    { name: 'that began before it', groupId: 10, ageMs: 90_000 },
    { name: 'that began after its end', groupId: 10, ageMs: 5000 },
    { name: 'of another group', groupId: 11, ageMs: 60_000 },
  ])('has not led a group with a member $name', ({ groupId, ageMs }) => {
    expect(hasLed(leader, [{ groupId, began: ago(ageMs) }])).toBe(false);
  });
});
