import path from 'node:path';
import { NotFoundError } from '../../../client/errors.ts';
import { formatOutputData } from '../../../files/formats/json-fields.ts';
import { LinkFault, makeDirectory } from '../../../files/writing/write-below.ts';
import { getErrorCode, getErrorMessage } from '../../../utils/error-utils.ts';
import { isMedia, type OutputItem, type Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import {
  InterruptedError,
  TimeLimitError,
  toTimeLimitError,
  waitTimeoutError,
} from '../../core/errors.ts';
import { toSafeFileName } from '../../terminal/sanitise.ts';
import { type SavedFile, type SaveOptions, writeManifest } from './manifest.ts';
import { type OutputDestination, saveMedia } from './save-media.ts';
import { writeWhole } from './write-file.ts';

/** An output, or a manifest, that was not saved. */
export interface SaveFailure {
  /** The number of the output, from 1; 0 if the fault concerns no single output. */
  readonly output: number;
  readonly message: string;
  /** The link in the way, if there is one. */
  readonly link?: string;
  /** True if the output's URL has expired, so that another try can't succeed. */
  readonly isGone?: true;
  /** True if the fault is the disk's, not the service's. */
  readonly isOnDisk?: true;
}

export interface SavedOutputs {
  /** The path of each output's file below the directory as given; undefined if it has none. */
  readonly paths: readonly (string | undefined)[];
  readonly failures: readonly SaveFailure[];
}

/**
 * Writes every output of a run to its own file, and a manifest `<runId>.json` to the same
 * directory.
 */
export async function saveOutputs(
  ctx: Context,
  connection: Connection,
  run: Run,
  options: SaveOptions,
): Promise<SavedOutputs> {
  const directory = path.resolve(ctx.cwd, options.directory);
  const directoryFault = tryToMakeDirectory(directory);
  if (directoryFault !== undefined) {
    const message = `nothing was saved: ${directoryFault}`;
    return { paths: [], failures: [{ output: 0, message }] };
  }

  const files: SavedFile[] = [];
  const paths: (string | undefined)[] = [];
  const failures: SaveFailure[] = [];
  const runName = toSafeFileName(run.runId);
  for (const [index, item] of run.outputs.entries()) {
    stopIfInterrupted(ctx, connection, run);

    const output = index + 1;
    const place = { directory, stem: `${runName}-${output}`, force: options.force };
    try {
      const file =
        item.type === 'error' ? undefined : await saveOutput(ctx, connection, item, place);
      paths.push(file && path.join(options.directory, file.name));
      if (file !== undefined) files.push({ output, ...file });
    } catch (error) {
      stopIfInterrupted(ctx, connection, run, { error });
      paths.push(undefined);
      failures.push(toSaveFailure(output, error));
    }
  }

  try {
    await writeManifest(ctx, { baseUrl: connection.baseUrl, run, files }, options);
  } catch (error) {
    const failure = toSaveFailure(0, error);
    failures.push({ ...failure, message: `${runName}.json was not saved: ${failure.message}` });
  }

  return { paths, failures };
}

/** The codes of errors for which this machine's disk is at fault. */
const DISK_FAULT_CODES = new Set(['EACCES', 'EDQUOT', 'EFBIG', 'EIO', 'ENOSPC', 'EPERM', 'EROFS']);

/** Returns the failure of an output, or of the manifest if `output` is 0. */
export function toSaveFailure(output: number, error: unknown): SaveFailure {
  return {
    output,
    message: getErrorMessage(error),
    ...(error instanceof LinkFault && { link: error.link }),
    ...(error instanceof NotFoundError && { isGone: true }),
    ...(DISK_FAULT_CODES.has(getErrorCode(error) ?? '') && { isOnDisk: true }),
  };
}

/** Makes a directory; returns the reason if it can't. */
function tryToMakeDirectory(directory: string): string | undefined {
  try {
    makeDirectory(directory);
    return undefined;
  } catch (error) {
    return ['EEXIST', 'ENOTDIR'].includes(getErrorCode(error) ?? '')
      ? `${directory} is not a directory`
      : getErrorMessage(error);
  }
}

/**
 * Throws if the download of outputs of a run that has ended was interrupted, or can't succeed
 * within `--timeout`.
 *
 * @param error the fault of the download, if there was one
 * @param to the arguments that name the place of the outputs
 */
export function stopIfInterrupted(
  { signal, timeLeftMs }: Context,
  { formatCommand }: Connection,
  { runId, runStatus }: Run,
  {
    error,
    to: destination = [],
  }: { readonly error?: unknown; readonly to?: readonly string[] } = {},
): void {
  const reason: unknown = signal.aborted ? signal.reason : toTimeLimitError(error, timeLeftMs());
  const hints = [`Save them with: ${formatCommand('runs', 'save', runId, ...destination)}`];
  const message = `run ${runId} ${runStatus}, but not all of its outputs were saved`;
  const data = { runId };
  if (reason instanceof InterruptedError) {
    throw new InterruptedError(reason.signal, hints, { message, data });
  }
  if (reason instanceof TimeLimitError) throw waitTimeoutError(message, { hints, data });
  signal.throwIfAborted();
}

async function saveOutput(
  ctx: Context,
  connection: Connection,
  item: OutputItem,
  place: OutputDestination,
): Promise<Omit<SavedFile, 'output'>> {
  const { type } = item;
  if (isMedia(item)) {
    return { type, ...(await saveMedia(ctx, connection, item, place)), sourceUrl: item.data };
  }
  const { directory, stem, force } = place;
  const content = [Buffer.from(formatOutputData(item.data))];
  return { type, ...(await writeWhole(directory, () => `${stem}.txt`, content, { force })) };
}
