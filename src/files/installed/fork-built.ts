import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { resolveBuiltFile } from './installed-file.ts';
import { FILE_VARIABLE, isSingleFile, resolveExecutablePath } from './single-file.ts';

/** Settings of a process that runs a build output. */
export interface BuiltProcessOptions extends Pick<ForkOptions, 'detached' | 'serialization'> {
  /** The environment; default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Maximum JavaScript heap, in MiB. */
  readonly memoryMiB?: number;
}

/**
 * Starts a build output as a process with an IPC channel and no other streams. The single
 * executable starts itself and passes the file and Node's flags in the environment.
 */
export function forkBuilt(
  file: string,
  { env = process.env, memoryMiB, ...options }: BuiltProcessOptions,
): ChildProcess {
  const flags = memoryMiB === undefined ? [] : [`--max-old-space-size=${memoryMiB}`];
  const commonOptions = {
    ...options,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  } satisfies ForkOptions;
  if (!isSingleFile()) {
    return fork(resolveBuiltFile(file), { ...commonOptions, env, execArgv: flags });
  }
  return fork(file, {
    ...commonOptions,
    execPath: resolveExecutablePath(),
    execArgv: [],
    env: {
      ...env,
      [FILE_VARIABLE]: file,
      ...(flags.length > 0 && { NODE_OPTIONS: flags.join(' ') }),
    },
  });
}
