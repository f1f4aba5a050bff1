import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';

/** Why the service can't listen, in words; any other error as it is. */
export function cannotListen(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new CliError(`port ${port} of ${host} is in use already`, {
      status: 'NETWORK_ERROR',
      exitCode: EXIT.fault,
      hints: ['Choose another with --port; --port 0 picks a free one.'],
      cause: error,
    });
  }
  if (code === 'EACCES')
    return usageError(`port ${port} may not be used by this user`, 'Choose one above 1023.');
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return usageError(`--host: ${host} is no address of this machine`);
  }
  return error;
}
