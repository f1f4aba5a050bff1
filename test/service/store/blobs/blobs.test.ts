import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { serviceClock } from '../../../../src/service/core/clock.ts';
import { openDatabase } from '../../../../src/service/store/open-database.ts';
import { findPostgresPrograms, startPostgres } from '../../../support/databases/postgres.ts';
import { createTemporaryDataDir } from '../../../support/local-service.ts';

/** The bytes of each part in which the database stores them. */
const PART_BYTES = 512 * 1024;

/** More bytes than two parts. */
const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, index) => `${index},`).join(''));

async function expectReads(databaseUrl: string | undefined): Promise<void> {
  const store = await openDatabase({
    dataDir: createTemporaryDataDir(),
    databaseUrl,
    clock: serviceClock,
  });
  const { media } = store.blobs;
  await media.write('a.mp4', BYTES, 'video/mp4');

  for (const { from, to } of [
    { from: 0, to: BYTES.length - 1 },
    { from: PART_BYTES - 1, to: PART_BYTES },
    { from: PART_BYTES, to: 2 * PART_BYTES - 1 },
    { from: 2 * PART_BYTES, to: BYTES.length - 1 },
    { from: 3, to: 3 },
  ]) {
    const part = await media.open('a.mp4', { from, to });
    expect(part && (await buffer(part)).equals(BYTES.subarray(from, to + 1))).toBe(true);
  }

  const whole = await media.open('a.mp4');
  expect(whole && (await buffer(whole)).equals(BYTES)).toBe(true);

  await store.close();
}

describe('bytes are read whole and in part', () => {
  test('from files', () => expectReads(undefined));

  test.skipIf(findPostgresPrograms() === undefined)('from PostgreSQL', async () => {
    const cluster = await startPostgres();
    try {
      await expectReads(cluster.url);
    } finally {
      cluster.remove();
    }
  });
});
