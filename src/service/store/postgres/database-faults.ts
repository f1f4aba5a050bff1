import { isCertificateFault } from '../../../net/connection-fault.ts';
import { getErrorCode, getErrorMessage } from '../../../utils/error-utils.ts';
import { DatabaseUnavailableError } from '../store-errors.ts';

/** PostgreSQL's code for a write to a read-only server, such as a standby. */
export const READ_ONLY_CODE = '25006';

/**
 * PostgreSQL's codes for connection faults (08, 57P), too many connections, and read-only servers.
 */
const UNAVAILABLE_CODE = /^(?:08...|57P0[1-5]|53300|25006)$/;

/** Node's codes for network faults. */
const NETWORK_CODE = /^E(?:CONN|HOST|NET|PIPE|TIMEDOUT|AI_|NOTFOUND)/;

/** The driver's messages for lost connections, which have no code. */
const LOST_CONNECTION =
  /connection terminated|timeout exceeded|timeout expired|read timeout|not queryable|connection error|client was closed|cannot use a pool/i;

/** Returns true if an error means that the database is unavailable, not that it refused a query. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError || isCertificateFault(error)) return true;
  const code = getErrorCode(error);
  if (code !== undefined) return UNAVAILABLE_CODE.test(code) || NETWORK_CODE.test(code);
  return LOST_CONNECTION.test(getErrorMessage(error));
}

/**
 * Returns the reason of a fault in a few words. Node's error for a name with several addresses has
 * only a code.
 */
export function explainDatabaseFault(error: unknown): string {
  if (error instanceof DatabaseUnavailableError && error.cause !== undefined) {
    return explainDatabaseFault(error.cause);
  }

  const code = getErrorCode(error);
  const reason = getErrorMessage(error) || code || 'no answer';
  if (!isCertificateFault(error)) return reason;
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? `${reason}; use a name that the certificate has, or sslmode=verify-ca with sslrootcert=<file>`
    : `${reason}; sslrootcert=<file> in the URL must name the CA to trust`;
}
