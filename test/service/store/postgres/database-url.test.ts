import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDatabaseUrl } from '../../../../src/service/store/postgres/database-url.ts';
import { CERTIFICATE } from '../../../support/certificates/loopback-certificate.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';

const listHostUrls = (text: string) =>
  readDatabaseUrl(text).hosts.map(({ config }) => config.connectionString);

describe('the URL of a database', () => {
  it('may name several hosts, each with its port', () => {
    const text = 'postgres://u:p%40@h1:5433,[::1],h3:5432/db?target_session_attrs=read-write&ssl=0';
    expect(listHostUrls(text)).toEqual([
      'postgres://u:p%40@h1:5433/db?ssl=0',
      'postgres://u:p%40@[::1]/db?ssl=0',
      'postgres://u:p%40@h3:5432/db?ssl=0',
    ]);

    expect(readDatabaseUrl(text).name).toBe('h1:5433,[::1]:5432,h3:5432/db');
  });

  it('may name one host, also by the scheme postgresql', () => {
    expect(listHostUrls('postgresql://one/db')).toEqual(['postgresql://one/db']);
  });

  it('may name the folder of a socket', () => {
    expect(listHostUrls('postgres:///db?host=/run/postgresql')).toHaveLength(1);
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

  describe('asks for TLS as libpq does:', () => {
    const readTlsOptions = (query: string) =>
      readDatabaseUrl(`postgres://10.0.0.7/db?${query}`).hosts[0]?.config.ssl;

    function createCaFile(): string {
      const caPath = path.join(createTemporaryDirectory(), 'ca.pem');
      writeFileSync(caPath, CERTIFICATE);
      return caPath;
    }

    it('not at all by default, nor with disable', () => {
      expect(readTlsOptions('')).toBeUndefined();
      expect(readTlsOptions('sslmode=disable')).toBe(false);
    });

    it('with any certificate for prefer, and for require without sslrootcert', () => {
      expect(readTlsOptions(`sslmode=prefer&sslrootcert=${createCaFile()}`)).toEqual({
        ca: CERTIFICATE,
        rejectUnauthorized: false,
      });
      expect(readTlsOptions('sslmode=require')).toEqual({ rejectUnauthorized: false });
    });

    it.each(['require', 'verify-ca'])('with a certificate of sslrootcert for %s', mode => {
      const options = readTlsOptions(`sslmode=${mode}&sslrootcert=${createCaFile()}`);
      expect(options).toMatchObject({ ca: CERTIFICATE });
      expect(options).not.toHaveProperty('rejectUnauthorized', false);
    });

    it('with a certificate for the host of the URL for verify-full', () => {
      const options = readTlsOptions('sslmode=verify-full');
      expect(options).not.toHaveProperty('ca');

      const { checkServerIdentity } = options as {
        checkServerIdentity: (host: string, certificate: object) => Error | undefined;
      };
      const certificate = { subject: { CN: 'localhost' } };
      const refusal = checkServerIdentity('localhost', {
        ...certificate,
        subjectaltname: 'DNS:localhost, IP Address:127.0.0.1',
      });
      expect(refusal?.message).toContain('10.0.0.7');
      expect(
        checkServerIdentity('localhost', {
          ...certificate,
          subjectaltname: 'IP Address:10.0.0.7',
        }),
      ).toBeUndefined();
    });
  });
});
