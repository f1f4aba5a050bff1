/** The exit codes users and scripts rely on. */
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
