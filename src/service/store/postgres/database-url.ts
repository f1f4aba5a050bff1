import { readFileSync } from 'node:fs';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type { ClientConfig } from 'pg';
import { messageOf } from '../../../files/error-utils.ts';
import { DatabaseUrlError } from '../errors.ts';

/** One of the servers that may hold a database. */
export interface HostAddress {
  /** Host and port, for messages. */
  readonly place: string;
  readonly config: Pick<ClientConfig, 'connectionString' | 'ssl'>;
}

/** A database as `--database` names it. */
export interface DatabaseAddress {
  /** In the order of the URL; with several of them, the one that accepts writes is used. */
  readonly hosts: readonly HostAddress[];
  /** Hosts, ports and name, for messages. */
  readonly place: string;
  /** How long a host may take to accept a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** False if statements are not to be prepared, because a pooler hands each transaction another connection. */
  readonly prepares: boolean;
}

const CONNECT_TIMEOUT_S = 5;

/** Parameters that the driver doesn't know, or reads otherwise than libpq. */
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
 * Reads a URL as `--database` and PROMPTRUN_DATABASE_URL take it: as libpq does, with several hosts and ports.
 *
 * @throws {DatabaseUrlError} for any other text, and a parameter that can't be used; it never repeats the URL
 */
export function readDatabaseUrl(text: string): DatabaseAddress {
  const [, scheme = '', authority = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/is.exec(text.trim()) ?? [];
  const user = authority.slice(0, authority.lastIndexOf('@') + 1);
  const names = authority.slice(user.length).split(',');
  const urls = names.map(name => urlOf(`${scheme}${user}${name}${rest}`, names.length > 1));
  const [first] = urls;
  if (!first) throw notPostgres();
  const parameters = first.searchParams;
  if (urls.length > 1) checkAttributes(parameters.get('target_session_attrs'));
  const hosts = urls.map(url => ({ place: hostOf(url), config: configOf(url) }));
  return {
    hosts,
    place: `${hosts.map(({ place }) => place).join(',')}${first.pathname}`,
    prepares: prepares(parameters.get('prepare')),
    connectTimeoutMs: 1000 * connectTimeout(parameters.get('connect_timeout')),
  };
}

function urlOf(text: string, isOneOfMany: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isNamed = url && (url.hostname !== '' || (!isOneOfMany && url.pathname.length > 1));
  if (!isNamed) throw notPostgres();
  return url;
}

function notPostgres(): DatabaseUrlError {
  return new DatabaseUrlError(
    'the database URL is not one of PostgreSQL; it looks like postgres://user:password@host:5432/name, and several hosts like @one:5432,[::1]:5432/name',
  );
}

function checkAttributes(wanted: string | null): void {
  if (wanted === null || wanted === 'read-write' || wanted === 'primary') return;
  throw new DatabaseUrlError(
    'target_session_attrs in the database URL is read-write or primary, or left out',
  );
}

function prepares(text: string | null): boolean {
  if (text === null || text === 'true' || text === 'false') return text !== 'false';
  throw new DatabaseUrlError('prepare in the database URL is true or false');
}

function connectTimeout(text: string | null): number {
  if (text === null) return CONNECT_TIMEOUT_S;
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new DatabaseUrlError('connect_timeout in the database URL is a whole number of seconds, 1 or more');
}

function hostOf({ hostname, port }: URL): string {
  return `${hostname || 'localhost'}:${port || 5432}`;
}

function configOf(url: URL): HostAddress['config'] {
  const ssl = tlsOf(url);
  const plain = new URL(url);
  for (const name of OWN_PARAMETERS) plain.searchParams.delete(name);
  return { connectionString: plain.href, ...(ssl !== undefined && { ssl }) };
}

/** TLS as libpq has it; undefined if the URL leaves it open. */
function tlsOf({ hostname, searchParams }: URL): boolean | ConnectionOptions | undefined {
  const mode = searchParams.get('sslmode');
  const [root, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map(name =>
    certificateIn(searchParams, name),
  );
  const files = { ...(root && { ca: root }), ...(cert && { cert }), ...(key && { key }) };
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  switch (mode) {
    case null:
      return root || cert || key ? files : undefined;
    case 'disable':
    case 'allow':
      return false;
    case 'prefer':
    case 'require':
      // A CA that is named is to be trusted, and no other.
      return root ? { ...files, checkServerIdentity: anyHost } : { ...files, rejectUnauthorized: false };
    case 'no-verify':
      return { ...files, rejectUnauthorized: false };
    case 'verify-ca':
      return { ...files, checkServerIdentity: anyHost };
    case 'verify-full':
      // Node takes a host that is an IP address for localhost.
      return { ...files, checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) };
    default:
      throw new DatabaseUrlError('sslmode in the database URL is disable, require, verify-ca or verify-full');
  }
}

const anyHost = (): undefined => undefined;

/** The text of a certificate or key; `system` stands for the CAs of the system. */
function certificateIn(parameters: URLSearchParams, name: string): string | undefined {
  const file = parameters.get(name);
  if (file === null || file === 'system') return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new DatabaseUrlError(`${name} in the database URL can't be read: ${messageOf(error)}`);
  }
}
