import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDatabaseUrl } from '../../../../src/service/store/postgres/database-url.ts';
import { CERTIFICATE } from '../../../support/certificates/loopback-certificate.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';

const hosts = (text: string) =>
  readDatabaseUrl(text).hosts.map(({ config }) => config.connectionString);

describe('the URL of a database', () => {
  it('may name several hosts, each with its port', () => {
    const text = 'postgres://u:p%40@h1:5433,[::1],h3:5432/db?target_session_attrs=read-write&ssl=0';
    expect(hosts(text)).toEqual([
      'postgres://u:p%40@h1:5433/db?ssl=0',
      'postgres://u:p%40@[::1]/db?ssl=0',
      'postgres://u:p%40@h3:5432/db?ssl=0',
    ]);

    expect(readDatabaseUrl(text).name).toBe('h1:5433,[::1]:5432,h3:5432/db');
    expect(hosts('postgresql://one/db')).toEqual(['postgresql://one/db']);
    expect(hosts('postgres:///db?host=/run/postgresql')).toHaveLength(1);
  });

  it.each([
    'mysql://h/db',
    'h1,h2',
    'postgres://',
    'postgres://h1,/db',
    'postgres://::1,h2/db',
    'postgres://u:sekret@h1,h2/db?target_session_attrs=any',
    'postgres://u:sekret@h1/db?connect_timeout=soon',
    'postgres://u:sekret@h1/db?prepare=no',
    'postgres://u:sekret@h1/db?sslmode=verify',
    'postgres://u:sekret@h1/db?sslmode=verify-ca&sslrootcert=/nowhere/ca.pem',
  ])('%s is refused, without a word of its password', text => {
    const attempt = (): unknown => readDatabaseUrl(text);
    expect(attempt).toThrow(expect.objectContaining({ code: 'INVALID_DATABASE_URL' }) as Error);
    expect(attempt).not.toThrow(/sekret/);
  });

  it('waits 5 s for a host, or as long as the URL says', () => {
    expect(readDatabaseUrl('postgres://h/db').connectTimeoutMs).toBe(5000);
    expect(readDatabaseUrl('postgres://h/db?connect_timeout=2').connectTimeoutMs).toBe(2000);
  });

  it('asks for TLS as libpq does', () => {
    const ca = path.join(createTemporaryDirectory(), 'ca.pem');
    writeFileSync(ca, CERTIFICATE);
    const ssl = (query: string) =>
      readDatabaseUrl(`postgres://10.0.0.7/db?${query}`).hosts[0]?.config.ssl;

    expect(ssl('')).toBeUndefined();
    expect(ssl('sslmode=disable')).toBe(false);
    expect(ssl(`sslmode=prefer&sslrootcert=${ca}`)).toEqual({
      ca: CERTIFICATE,
      rejectUnauthorized: false,
    });
    expect(ssl('sslmode=require')).toEqual({ rejectUnauthorized: false });
    expect(ssl(`sslmode=require&sslrootcert=${ca}`)).toMatchObject({ ca: CERTIFICATE });
    expect(ssl(`sslmode=verify-ca&sslrootcert=${ca}`)).toMatchObject({ ca: CERTIFICATE });
    expect(ssl('sslmode=verify-full')).not.toHaveProperty('ca');

    const { checkServerIdentity: check } = ssl('sslmode=verify-full') as {
      checkServerIdentity: (host: string, certificate: object) => Error | undefined;
    };
    const certificate = {
      subject: { CN: 'localhost' },
      subjectaltname: 'DNS:localhost, IP Address:127.0.0.1',
    };

    expect(check('localhost', certificate)?.message).toContain('10.0.0.7');
    expect(
      check('localhost', { ...certificate, subjectaltname: 'IP Address:10.0.0.7' }),
    ).toBeUndefined();
  });
});
