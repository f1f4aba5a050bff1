import { existsSync, readFileSync } from 'node:fs';
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  rootCertificates,
} from 'node:tls';
import type { ClientConfig } from 'pg';
import type { Env } from '../../../utils/env.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { DatabaseUrlError } from '../store-errors.ts';

/** One of the servers of a database. */
export interface HostAddress {
  /** Host and port, for messages. */
  readonly name: string;
  readonly config: Pick<ClientConfig, 'connectionString' | 'ssl'>;
  /** True to connect without TLS if the server has none (`sslmode=prefer`). */
  readonly fallsBackToPlain: boolean;
}

/** A parsed database URL. */
export interface DatabaseAddress {
  /**
   * The hosts in the order of the URL. If there are several, the one that accepts writes is used.
   */
  readonly hosts: readonly HostAddress[];
  /** Hosts, ports and name, for messages. */
  readonly name: string;
  /** Maximum time for a host to accept a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  /**
   * False if statements must not be prepared, because a pooler gives each transaction another
   * connection.
   */
  readonly usesPreparedStatements: boolean;
}

const CONNECT_TIMEOUT_S = 5;

/** Parameters read here, because the driver doesn't know them or interprets them unlike libpq. */
const OWN_PARAMETERS = [
  'prepare',
  'target_session_attrs',
  'connect_timeout',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
];

/**
 * The files in which Debian and Fedora keep the CAs of the system. Node has CAs of its own and
 * doesn't read them.
 */
const SYSTEM_CA_FILES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'];

/**
 * Parses the URL of `--database` or PROMPTRUN_DATABASE_URL like libpq, with several hosts and
 * ports.
 *
 * @throws {DatabaseUrlError} if it is not PostgreSQL's or has an invalid parameter; the message
 * never repeats the URL
 */
export function readDatabaseUrl(text: string, env: Env = {}): DatabaseAddress {
  // Split by hand, because `URL` knows only one host: `postgres://`, `user@one:5432,two:5432`, `/name?…`.
  const [, scheme = '', authority = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/is.exec(text.trim()) ?? [];
  const user = authority.slice(0, authority.lastIndexOf('@') + 1);
  const names = authority.slice(user.length).split(',');
  const urls = names.map(name =>
    parseDatabaseUrl(`${scheme}${user}${name}${rest}`, { isOneOfMany: names.length > 1 }),
  );
  const [first] = urls;
  if (!first) throw notPostgresError();

  const parameters = first.searchParams;
  if (urls.length > 1) checkTargetAttributes(parameters.get('target_session_attrs'));
  const fallsBackToPlain = parameters.get('sslmode') === 'prefer';
  const hosts = urls.map(url => ({
    name: formatHostName(url),
    config: buildPoolConfig(url, env),
    fallsBackToPlain,
  }));

  return {
    hosts,
    name: `${hosts.map(host => host.name).join(',')}${first.pathname}`,
    usesPreparedStatements: parsePrepare(parameters.get('prepare')),
    connectTimeoutMs: 1000 * parseConnectTimeout(parameters.get('connect_timeout')),
  };
}

function parseDatabaseUrl(text: string, { isOneOfMany }: { readonly isOneOfMany: boolean }): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isNamed = url && (url.hostname !== '' || (!isOneOfMany && url.pathname.length > 1));
  if (!isNamed) throw notPostgresError();
  return url;
}

function notPostgresError(): DatabaseUrlError {
  return new DatabaseUrlError(
    'the database URL is not a PostgreSQL URL; use the form postgres://user:password@host:5432/name, and for several hosts @one:5432,[::1]:5432/name',
  );
}

function checkTargetAttributes(attributes: string | null): void {
  if (attributes === null || attributes === 'read-write' || attributes === 'primary') return;
  throw new DatabaseUrlError(
    'target_session_attrs in the database URL must be read-write or primary, or left out',
  );
}

function parsePrepare(text: string | null): boolean {
  if (text === null || text === 'true' || text === 'false') return text !== 'false';
  throw new DatabaseUrlError('prepare in the database URL must be true or false');
}

function parseConnectTimeout(text: string | null): number {
  if (text === null) return CONNECT_TIMEOUT_S;
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new DatabaseUrlError(
    'connect_timeout in the database URL must be a whole number of seconds from 1 to 999',
  );
}

function formatHostName({ hostname, port }: URL): string {
  return `${hostname || 'localhost'}:${port || 5432}`;
}

function buildPoolConfig(url: URL, env: Env): HostAddress['config'] {
  const ssl = readTls(url, env);
  const plain = new URL(url);
  for (const name of OWN_PARAMETERS) plain.searchParams.delete(name);
  return { connectionString: plain.href, ...(ssl !== undefined && { ssl }) };
}

/** Returns the TLS options like libpq; undefined if the URL sets none. */
function readTls(
  { hostname, searchParams }: URL,
  env: Env,
): boolean | ConnectionOptions | undefined {
  const mode = searchParams.get('sslmode');
  const ca = readCertificate(searchParams, 'sslrootcert');
  const cert = readCertificate(searchParams, 'sslcert');
  const key = readCertificate(searchParams, 'sslkey');

  const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  switch (mode) {
    case null:
      return ca || cert || key ? files : undefined;
    case 'disable':
    case 'allow':
      return false;
    case 'require':
      // Only the named CA is trusted.
      return ca
        ? { ...files, checkServerIdentity: acceptAnyHost }
        : { ...files, rejectUnauthorized: false };
    case 'prefer':
    case 'no-verify':
      return { ...files, rejectUnauthorized: false };
    case 'verify-ca':
      return { ...withSystemCertificates(files, env), checkServerIdentity: acceptAnyHost };
    case 'verify-full':
      return {
        ...withSystemCertificates(files, env),
        // For an IP address, Node would check the certificate against localhost.
        checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
      };
    default:
      throw new DatabaseUrlError(
        'sslmode in the database URL must be disable, prefer, require, verify-ca or verify-full',
      );
  }
}

/**
 * Adds the CAs of the system if the URL names none. They are parsed once, not for each connection.
 */
function withSystemCertificates(files: ConnectionOptions, env: Env): ConnectionOptions {
  if (files.ca !== undefined) return files;
  const systemCertificates = [...SYSTEM_CA_FILES, env['NODE_EXTRA_CA_CERTS'] ?? '']
    .filter(existsSync)
    .map(file => readFileSync(file));
  return {
    secureContext: createSecureContext({
      ...files,
      ca: [...rootCertificates, ...systemCertificates],
    }),
  };
}

const acceptAnyHost = (): undefined => undefined;

/**
 * Returns the text of a certificate or key; undefined for `system`, which means the CAs of the
 * system.
 */
function readCertificate(parameters: URLSearchParams, name: string): string | undefined {
  const file = parameters.get(name);
  if (file === null || file === 'system') return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new DatabaseUrlError(
      `${name} in the database URL can't be read: ${getErrorMessage(error)}`,
    );
  }
}
