import { expect, it } from 'vitest';
import { findOrphanPids, parseProcesses } from '../../src/processes/windows-processes.ts';

/** 2024-01-01T00:00:00Z in units of 100 ns since 1601. */
const NEW_YEAR = 133_485_408_000_000_000n;

it('finds what a process left running, and nothing of a later one with its id', () => {
  const began = Date.UTC(2024, 0, 1);
  const line = (pid: number, parent: number, seconds: number): string =>
    `${pid} ${parent} ${NEW_YEAR + BigInt(seconds) * 10_000_000n}\r\n`;
  const listing = `noise\r\n${line(11, 10, -5)}${line(12, 10, 1)}${line(13, 9, 1)}${line(14, 10, 5)}`;
  const root = { pid: 10, began, ended: began + 2000 };
  expect(findOrphanPids(root, parseProcesses(listing))).toEqual([12]);
});
