import path from 'node:path';
import { expect, it } from 'vitest';
import { connectDatabase } from '../../../../src/service/store/sqlite/connect.ts';
import { temporaryDirectory } from '../../../support/context.ts';

it('writes each commit to the disk itself, on macOS past its cache, too', async () => {
  const { database } = await connectDatabase(path.join(temporaryDirectory(), 'promptrun.db'));
  const settings = ['synchronous', 'fullfsync'].map(name => database.prepare(`pragma ${name}`).all());
  database.close();
  expect(settings).toEqual([[{ synchronous: 2 }], [{ fullfsync: 1 }]]);
});
