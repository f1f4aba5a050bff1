import { messageOf } from '../../../files/error-utils.ts';
import { isAboutCertificate } from '../../../net/fault.ts';
import { DatabaseUnavailableError } from '../errors.ts';

/** PostgreSQL's code for a write at a server that accepts none, such as a standby. */
export const READ_ONLY = /^25006$/;
/** What PostgreSQL calls its own faults: five characters; 08 and 57P are those of the connection. */
const AWAY = /^(?:08...|57P0[1-5]|53300|25006)$/;
/** What Node calls those of the network. */
const NETWORK = /^E(?:CONN|HOST|NET|PIPE|TIMEDOUT|AI_|NOTFOUND)/;
/** What the driver says without a code. */
const LOST =
  /connection terminated|timeout exceeded|timeout expired|read timeout|not queryable|connection error|client was closed|cannot use a pool/i;

/** Returns true for a fault that means that the database is away, and not that it refused a query. */
export function isAway(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError || isAboutCertificate(error)) return true;
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return AWAY.test(code) || NETWORK.test(code);
  return LOST.test(messageOf(error));
}

/** The reason of a fault in a few words; Node gives none for a name with several addresses. */
export function reasonOf(error: unknown): string {
  if (error instanceof DatabaseUnavailableError && error.cause !== undefined) return reasonOf(error.cause);
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  const reason = messageOf(error) || (typeof code === 'string' ? code : 'no answer');
  return isAboutCertificate(error)
    ? `${reason}; give the URL sslrootcert=<file> with the certificate of the CA that it is to trust`
    : reason;
}
