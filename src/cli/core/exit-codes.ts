import type { EngineFault } from '../../models/engine.ts';

/** The exit codes that users and scripts rely on. */
export const EXIT = {
  ok: 0,
  fault: 1,
  usage: 2,
  unauthorised: 3,
  notFound: 4,
  runFailed: 5,
  waitTimeout: 6,
  rateLimited: 7,
  capReached: 8,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The status and exit code of each fault of a provider. */
export const PROVIDER_FAULTS = {
  unauthorised: { status: 'UNAUTHORIZED_ERROR', exitCode: EXIT.unauthorised },
  quota: { status: 'TOO_MANY_REQUESTS_ERROR', exitCode: EXIT.rateLimited },
  busy: { status: 'TOO_MANY_REQUESTS_ERROR', exitCode: EXIT.rateLimited },
  unreachable: { status: 'NETWORK_ERROR', exitCode: EXIT.fault },
  'not-started': { status: 'FILE_ERROR', exitCode: EXIT.fault },
  unfit: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
} as const satisfies Record<EngineFault, { status: string; exitCode: ExitCode }>;
