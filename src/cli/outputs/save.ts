import path from 'node:path';
import { Readable } from 'node:stream';
import { makeDirectory } from '../../files/directories.ts';
import { codeOf, messageOf } from '../../files/error-utils.ts';
import { isMedia, type OutputItem, type Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { fieldText } from '../core/json-value.ts';
import { Interrupted, TimeIsUp, waitTimeout } from '../errors.ts';
import { safeFileName } from '../terminal/sanitise.ts';
import { type RunFacts, type SavedFile, writeManifest } from './manifest.ts';
import { saveMedia } from './save-media.ts';
import { writeWhole } from './write-file.ts';

export interface SaveOptions {
  /** As the user gave it, relative to the working directory. */
  readonly directory: string;
  /** Overwrites files that exist. */
  readonly force: boolean;
  /** What is known of how the run was made, for `<runId>.json`. */
  readonly facts: RunFacts;
}

export interface SaveFailure {
  /** From 1, counting all outputs; 0 where it is of none alone. */
  readonly output: number;
  readonly message: string;
}

export interface SavedOutputs {
  /** The path of each output's file, as the user gave the directory; undefined where there is none. */
  readonly paths: readonly (string | undefined)[];
  readonly failures: readonly SaveFailure[];
}

/** Writes every output of a run to a file of its own, and what they are into `<runId>.json` beside them. */
export async function saveOutputs(
  ctx: Context,
  connection: Connection,
  run: Run,
  options: SaveOptions,
): Promise<SavedOutputs> {
  const noDirectory = whyNoDirectory(path.resolve(ctx.cwd, options.directory));
  if (noDirectory !== undefined) {
    return { paths: [], failures: [{ output: 0, message: `nothing was saved: ${noDirectory}` }] };
  }
  const files: SavedFile[] = [];
  const failures: SaveFailure[] = [];
  for (const [index, item] of run.outputs.entries()) {
    stopIfInterrupted(ctx, connection, run);
    try {
      const file = await saveOutput(ctx, connection, run, item, index + 1, options);
      if (file !== undefined) files.push(file);
    } catch (error) {
      stopIfInterrupted(ctx, connection, run);
      failures.push({ output: index + 1, message: messageOf(error) });
    }
  }
  const { baseUrl } = connection;
  const manifest = await writeManifest(ctx, run, files, { ...options, baseUrl }).catch(
    (error: unknown) => error,
  );
  if (manifest instanceof Error) failures.push({ output: 0, message: manifest.message });
  return { paths: pathsOf(run, files, options.directory), failures };
}

function whyNoDirectory(directory: string): string | undefined {
  try {
    makeDirectory(directory);
    return undefined;
  } catch (error) {
    return ['EEXIST', 'ENOTDIR'].includes(codeOf(error) ?? '')
      ? `${directory} is not a directory`
      : messageOf(error);
  }
}

/** The run is over, only its outputs are not here yet. */
function stopIfInterrupted({ signal }: Context, { advise }: Connection, { runId, runStatus }: Run): void {
  const reason: unknown = signal.reason;
  const hints = [`Save them with: ${advise('runs', 'save', runId)}`];
  const message = `run ${runId} ${runStatus}, but not all of its outputs were saved`;
  const data = { runId };
  if (reason instanceof Interrupted) throw new Interrupted(reason.signal, hints, { message, data });
  if (reason instanceof TimeIsUp) throw waitTimeout(message, { hints, data });
  signal.throwIfAborted();
}

/** Error items are reported, not saved. */
async function saveOutput(
  ctx: Context,
  connection: Connection,
  run: Run,
  item: OutputItem,
  number: number,
  { directory, force }: SaveOptions,
): Promise<SavedFile | undefined> {
  if (item.type === 'error') return undefined;
  const target = {
    directory: path.resolve(ctx.cwd, directory),
    stem: `${safeFileName(run.runId)}-${number}`,
    force,
  };
  if (isMedia(item)) {
    return { output: number, type: item.type, ...(await saveMedia(ctx, connection, item, target)) };
  }
  const written = await writeWhole(
    target.directory,
    () => `${target.stem}.txt`,
    Readable.from([Buffer.from(fieldText(item.data))]),
    force,
  );
  return { output: number, type: item.type, ...written };
}

function pathsOf(run: Run, files: readonly SavedFile[], directory: string): (string | undefined)[] {
  return run.outputs.map((_, index) => {
    const file = files.find(({ output }) => output === index + 1);
    return file === undefined ? undefined : path.join(directory, file.name);
  });
}
