import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { serviceClock } from '../../../../src/service/core/clock.ts';
import { openDatabase } from '../../../../src/service/store/open-database.ts';
import { findPostgresPrograms, startPostgres } from '../../../support/databases/postgres.ts';
import { createTemporaryDataDir } from '../../../support/local-service.ts';

/** More bytes than two of the parts in which the database stores them. */
const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, index) => `${index},`).join(''));

async function checkReads(databaseUrl: string | undefined): Promise<void> {
  const store = await openDatabase({
    dataDir: createTemporaryDataDir(),
    databaseUrl,
    clock: serviceClock,
  });
  const { media } = store.blobs;
  await media.write('a.mp4', BYTES, 'video/mp4');

  for (const [from, to] of [
    [0, BYTES.length - 1],
    [524_287, 524_288],
    [524_288, 1_048_575],
    [1_048_576, BYTES.length - 1],
    [3, 3],
  ] as const) {
    const part = await media.open('a.mp4', { from, to });
    expect(part && (await buffer(part)).equals(BYTES.subarray(from, to + 1))).toBe(true);
  }

  const whole = await media.open('a.mp4');
  expect(whole && (await buffer(whole)).equals(BYTES)).toBe(true);

  await store.close();
}

describe('bytes are read whole and in part', () => {
  test('from files', () => checkReads(undefined));

  test.skipIf(findPostgresPrograms() === undefined)('from PostgreSQL', async () => {
    const cluster = await startPostgres();
    try {
      await checkReads(cluster.url);
    } finally {
      cluster.remove();
    }
  });
});
