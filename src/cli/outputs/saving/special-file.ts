import { fstatSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  isSpecialFile,
  openDeviceOrPipe,
  replaceNamedFile,
} from '../../../files/writing/write-file.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { escapeControls } from '../../terminal/sanitise.ts';

/** A device or a pipe that is open for writing. */
export interface SpecialFile {
  readonly isTerminal: boolean;
  /** Resolves to false once the reader is gone. */
  write(data: string | Uint8Array): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Writes a text to a file, a device or a pipe that the user named, or to standard output for `-`.
 * On a terminal, it shows control characters.
 */
export async function writeNamedFile(ctx: Context, name: string, text: string): Promise<void> {
  if (name === '-') {
    await ctx.io.out(ctx.io.stdout.isTerminal ? escapeControls(text) : text);
    return;
  }

  const file = path.resolve(ctx.cwd, name);
  if (!isSpecialFile(file)) return replaceNamedFile(file, text);

  const specialFile = await openSpecialFile(ctx, file);
  try {
    await specialFile.write(specialFile.isTerminal ? escapeControls(text) : text);
  } finally {
    await specialFile.close();
  }
}

/**
 * Opens a device or a pipe. Uses the streams of the command if it is one of them.
 *
 * @throws file system errors
 */
export async function openSpecialFile({ io }: Context, file: string): Promise<SpecialFile> {
  const close = async (): Promise<void> => {};
  const stream = findStandardStream(file);
  if (stream === 'stdout') {
    return { isTerminal: io.stdout.isTerminal, write: data => io.out(data), close };
  }

  if (stream === 'stderr') {
    const write = async (data: string | Uint8Array): Promise<boolean> => {
      io.err(typeof data === 'string' ? data : Buffer.from(data).toString());
      return true;
    };
    return { isTerminal: io.stderr.isTerminal, write, close };
  }

  const handle = await openDeviceOrPipe(file);
  return {
    isTerminal: process.getBuiltinModule('node:tty').isatty(handle.fd),
    write: data =>
      handle.appendFile(data).then(
        () => true,
        (error: unknown) => {
          if (getErrorCode(error) === 'EPIPE') return false;
          throw error;
        },
      ),
    close: () => handle.close(),
  };
}

/** Returns true for `-`, and if a path, relative to `cwd`, leads to standard output. */
export function isStandardOutput(cwd: string, name: string): boolean {
  return name === '-' || findStandardStream(path.resolve(cwd, name)) === 'stdout';
}

/**
 * Returns true if a page goes to standard output, in place of what the command prints.
 *
 * @param flag the flag that names the page's file
 * @throws {CliError} USAGE_ERROR if JSON was requested as well
 */
export function replacesPrintedResult(
  ctx: Context,
  flag: string,
  name: string | undefined,
): boolean {
  if (name === undefined || !isStandardOutput(ctx.cwd, name)) return false;
  const { json, query } = ctx.globals;
  if (!json) return true;
  throw usageError(
    `${flag} ${name} and --${query === undefined ? 'json' : 'query'} can't be used together: both go to standard output`,
    `Name a file for the page: ${flag} page.html`,
  );
}

const STREAMS = [
  { stream: 'stdout', fd: 1 },
  { stream: 'stderr', fd: 2 },
] as const;

function findStandardStream(file: string): 'stdout' | 'stderr' | undefined {
  return STREAMS.find(
    ({ stream, fd }) =>
      [`/dev/${stream}`, `/dev/fd/${fd}`, `/proc/self/fd/${fd}`].includes(file) ||
      isSameSocket(file, fd),
  )?.stream;
}

/** Returns true for a link to the socket behind a descriptor, which can't be opened by its name. */
function isSameSocket(file: string, fd: number): boolean {
  try {
    const namedStats = statSync(file);
    if (!namedStats.isSocket()) return false;
    const openedStats = fstatSync(fd);
    return namedStats.ino === openedStats.ino && namedStats.dev === openedStats.dev;
  } catch {
    return false;
  }
}
