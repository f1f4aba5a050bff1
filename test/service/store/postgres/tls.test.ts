import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { openStore } from '../../../../src/service/index.ts';
import { CERTIFICATE } from '../../../support/certificates/loopback-certificate.ts';
import { runCommand } from '../../../support/command.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../../../support/databases/postgres.ts';
import { createTemporaryDataDir } from '../../../support/local-service.ts';

// Only Linux answers at 127.0.0.2 without configuration.
const lacksPrograms = findPostgresPrograms() === undefined || process.platform !== 'linux';

describe.skipIf(lacksPrograms)('a database that speaks TLS', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgres({ tls: true });
  });
  afterAll(() => cluster?.remove());

  function createCaFile(): string {
    const caPath = path.join(createTemporaryDirectory(), 'ca.pem');
    writeFileSync(caPath, CERTIFICATE);
    return caPath;
  }

  /**
   * Returns the URL of the database at a name of this machine, with the path of a file instead of
   * `CA` in its query. The certificate is for localhost and 127.0.0.1.
   */
  function buildDatabaseUrl(host: string, query: string): string {
    const url = new URL(cluster.url);
    url.hostname = host;
    return `${url.href}?${query.replace('CA', createCaFile())}`;
  }

  test.each([
    ['127.0.0.1', 'sslmode=require'],
    ['127.0.0.2', 'sslmode=prefer'],
    ['127.0.0.1', 'sslmode=verify-full&sslrootcert=CA'],
    ['localhost', 'sslmode=verify-full&sslrootcert=CA'],
    ['127.0.0.2', 'sslmode=require&sslrootcert=CA'],
    ['127.0.0.2', 'sslmode=verify-ca&sslrootcert=CA'],
  ])('is used at %s with %s', async (host, query) => {
    const database = buildDatabaseUrl(host, query);
    const store = await openStore({
      dataDir: createTemporaryDataDir(),
      databaseUrl: database,
      env: {},
    });
    await store.close();
  });

  test('is used with the CAs of NODE_EXTRA_CA_CERTS too, if sslrootcert names none', async () => {
    const options = {
      dataDir: createTemporaryDataDir(),
      databaseUrl: buildDatabaseUrl('localhost', 'sslmode=verify-full'),
    };
    const store = await openStore({ ...options, env: { NODE_EXTRA_CA_CERTS: createCaFile() } });
    await store.close();
  });

  test.each([
    { host: '127.0.0.1', query: 'sslmode=verify-full', message: 'sslrootcert' },
    { host: '127.0.0.1', query: 'sslmode=verify-ca', message: 'sslrootcert' },
    {
      host: '127.0.0.2',
      query: 'sslmode=verify-full&sslrootcert=CA',
      message: '127.0.0.2 is not in the cert',
    },
  ])('is refused at $host with $query', async ({ host, query, message }) => {
    const database = buildDatabaseUrl(host, query);
    const { code, stderr } = await runCommand(['serve', '--port', '0', '--database', database]);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/warning/i);
    expect(code).toBe(EXIT.fault);
  });
});

describe.skipIf(lacksPrograms)('a database without TLS', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgres();
  });
  afterAll(() => cluster?.remove());

  const open = (query: string) =>
    openStore({
      dataDir: createTemporaryDataDir(),
      databaseUrl: `${cluster.url}?${query}`,
      env: {},
    });

  test('is used with sslmode=prefer', async () => {
    const store = await open('sslmode=prefer');
    await store.close();
  });

  test('is refused with sslmode=require', async () => {
    await expect(open('sslmode=require')).rejects.toThrow('SSL');
  });
});
