import { constants, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  openContainedFile,
  toContainedPath,
  truncateContainedFile,
} from '../../../src/files/writing/write-below.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

const { O_RDWR, O_APPEND, O_CREAT } = constants;

// On Windows, a handle for appending may not shorten its file, so the file is opened once more. Other
// systems allow it; there, only another file of its name shows that it was opened again.
it('shortens the file that is open, and no other that has its name by now', async () => {
  const logPath = path.join(createTemporaryDirectory(), 'log.jsonl');
  writeFileSync(logPath, 'whole\ntorn');
  const file = toContainedPath(logPath);
  const handle = await openContainedFile(file, O_RDWR | O_APPEND | O_CREAT);

  expect(truncateContainedFile(file, handle, { expectedSize: 99, newSize: 0 })).toBe(true);
  expect(readFileSync(logPath, 'utf8')).toBe('whole\ntorn');
  expect(truncateContainedFile(file, handle, { expectedSize: 10, newSize: 6 })).toBe(true);
  expect(readFileSync(logPath, 'utf8')).toBe('whole\n');

  renameSync(logPath, `${logPath}.old`);
  writeFileSync(logPath, 'other\n');

  expect(truncateContainedFile(file, handle, { expectedSize: 6, newSize: 0 })).toBe(false);
  expect(readFileSync(logPath, 'utf8')).toBe('other\n');

  await handle.close();
});
