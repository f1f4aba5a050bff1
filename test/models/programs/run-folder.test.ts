import {
  existsSync,
  readdirSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createRunFolder, endRecordedPrograms } from '../../../src/models/programs/run-folder.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

it('what a process left that was killed before it wrote a record or a folder is removed', async () => {
  const records = createTemporaryDirectory();
  for (const name of ['locked', 'recorded']) {
    const lock = path.join(records, `${name}.json.lock`);
    writeFileSync(lock, '');
    utimesSync(lock, 1, 1);
  }

  const root = path.join(records, 'promptrun-run-never-made');
  writeFileSync(path.join(records, 'recorded.json'), JSON.stringify({ root }));
  await endRecordedPrograms(records, process.env);

  expect(readdirSync(records)).toEqual([]);
});

it('what a process left that was killed while it added the program to its record is removed', async () => {
  const records = createTemporaryDirectory();
  const { factsFile, recordStart } = await createRunFolder(records, {});
  await recordStart({ pid: 1, began: 1 });
  const [record = '', lock = ''] = readdirSync(records)
    .sort()
    .map(name => path.join(records, name));
  truncateSync(record, statSync(record).size - 5);
  writeFileSync(lock, '');
  utimesSync(lock, 1, 1);
  await endRecordedPrograms(records, process.env);

  expect([existsSync(factsFile), readdirSync(records)]).toEqual([false, []]);
});

it('what a process uses that runs is kept', async () => {
  const records = createTemporaryDirectory();
  const folder = await createRunFolder(records, {});
  await endRecordedPrograms(records, process.env);
  expect(existsSync(folder.factsFile)).toBe(true);
  await folder.remove();
  expect([existsSync(folder.workingDirectory), readdirSync(records)]).toEqual([false, []]);
});
