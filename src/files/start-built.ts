import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { builtFile } from './installed-file.ts';
import { executablePath, FILE_VARIABLE, isSingleFile } from './single-file.ts';

export interface BuiltProcessOptions extends Pick<ForkOptions, 'detached' | 'serialization'> {
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Bounds the memory of its JavaScript. */
  readonly memoryMiB?: number;
}

/**
 * Starts a file of the build as a process that talks over IPC and has no other streams. The single executable starts
 * itself, named the file by the environment; it takes flags of Node from there too.
 */
export function forkBuilt(
  file: string,
  { env = process.env, memoryMiB, ...options }: BuiltProcessOptions,
): ChildProcess {
  const flags = memoryMiB === undefined ? [] : [`--max-old-space-size=${memoryMiB}`];
  const common = { ...options, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] } satisfies ForkOptions;
  if (!isSingleFile()) return fork(builtFile(file), { ...common, env, execArgv: flags });
  return fork(file, {
    ...common,
    execPath: executablePath(),
    execArgv: [],
    env: { ...env, [FILE_VARIABLE]: file, ...(flags.length > 0 && { NODE_OPTIONS: flags.join(' ') }) },
  });
}
