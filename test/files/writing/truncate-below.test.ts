import { constants, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  openContainedFile,
  toContainedPath,
  truncateContainedFile,
} from '../../../src/files/writing/write-below.ts';
import { temporaryDirectory } from '../../support/context.ts';

const { O_RDWR, O_APPEND, O_CREAT } = constants;

// On Windows, a handle for appending has no right to shorten its file. Wine grants it, and so does
// Linux: that the file is opened once more shows in what is done if another file has its name by
// then.
it('shortens the file that is open, and no other that has its name by now', async () => {
  const place = path.join(temporaryDirectory(), 'log.jsonl');
  writeFileSync(place, 'whole\ntorn');
  const file = toContainedPath(place);
  const handle = await openContainedFile(file, O_RDWR | O_APPEND | O_CREAT);

  expect(truncateContainedFile(file, handle, { expectedSize: 99, newSize: 0 })).toBe(true);
  expect(readFileSync(place, 'utf8')).toBe('whole\ntorn');
  expect(truncateContainedFile(file, handle, { expectedSize: 10, newSize: 6 })).toBe(true);
  expect(readFileSync(place, 'utf8')).toBe('whole\n');

  renameSync(place, `${place}.old`);
  writeFileSync(place, 'other\n');

  expect(truncateContainedFile(file, handle, { expectedSize: 6, newSize: 0 })).toBe(false);
  expect(readFileSync(place, 'utf8')).toBe('other\n');

  await handle.close();
});
