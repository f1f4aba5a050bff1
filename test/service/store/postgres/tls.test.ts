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

  /** Returns its URL at a name of this machine. The certificate is for localhost and 127.0.0.1. */
  function buildDatabaseUrl(host: string, query: string): string {
    const ca = path.join(createTemporaryDirectory(), 'ca.pem');
    writeFileSync(ca, CERTIFICATE);
    const url = new URL(cluster.url);
    url.hostname = host;
    return `${url.href}?${query.replace('CA', ca)}`;
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
    const ca = path.join(createTemporaryDirectory(), 'ca.pem');
    writeFileSync(ca, CERTIFICATE);
    const options = {
      dataDir: createTemporaryDataDir(),
      databaseUrl: buildDatabaseUrl('localhost', 'sslmode=verify-full'),
    };
    const store = await openStore({ ...options, env: { NODE_EXTRA_CA_CERTS: ca } });
    await store.close();
  });

  test.each([
    ['127.0.0.1', 'sslmode=verify-full', /sslrootcert/],
    ['127.0.0.1', 'sslmode=verify-ca', /sslrootcert/],
    ['127.0.0.2', 'sslmode=verify-full&sslrootcert=CA', /127\.0\.0\.2 is not in the cert/],
  ])('is refused at %s with %s', async (host, query, message) => {
    const database = buildDatabaseUrl(host, query);
    const { code, stderr } = await runCommand(['serve', '--port', '0', '--database', database]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/warning/i);
    expect(code).toBe(EXIT.fault);
  });
});

describe.skipIf(lacksPrograms)('a database without TLS', () => {
  test('is used with sslmode=prefer, and refused with sslmode=require', async () => {
    const cluster = await startPostgres();
    try {
      const database = (mode: string): string => `${cluster.url}?sslmode=${mode}`;
      const dataDir = createTemporaryDataDir();
      const store = await openStore({ dataDir, databaseUrl: database('prefer'), env: {} });
      await store.close();
      const refused = openStore({ dataDir, databaseUrl: database('require'), env: {} });
      await expect(refused).rejects.toThrow(/SSL/);
    } finally {
      cluster.remove();
    }
  });
});
