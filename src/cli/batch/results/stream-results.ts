import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { splitIntoLines } from '../../../files/formats/text-lines.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { formatJsonLine, toJson } from '../../outputs/print-json.ts';
import { openSpecialFile, type SpecialFile } from '../../outputs/saving/special-file.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { isTableName } from '../batch-options.ts';
import { JsonlResults } from './jsonl-results.ts';
import type { ResultState } from './result-state.ts';
import type { ResultsSink } from './results-file.ts';
import type { ResultsLine } from './results-line.ts';

/** The parts of a sink that is a stream: it has no earlier results, and nothing to finish. */
const STREAM_DEFAULTS = {
  states: new Map() as ReadonlyMap<string, ResultState>,
  hasEarlierResults: false,
  finish: async (): Promise<void> => {},
};

interface StreamOptions {
  /** The device or pipe; standard output by default. */
  readonly stream: string | undefined;
  readonly excel: boolean;
  readonly sorted: boolean;
}

/**
 * Opens standard output, a device or a pipe for results.
 *
 * @throws {CliError} if that fails
 */
export async function openStreamResults(
  ctx: Context,
  options: StreamOptions,
): Promise<ResultsSink> {
  const { stream, sorted } = options;
  if (stream !== undefined && isTableName(stream)) {
    return createTableResults(ctx, await openNamedStream(ctx, stream), options);
  }

  const lineStream =
    stream === undefined
      ? createStandardOutputStream(ctx)
      : createLineStream(await openNamedStream(ctx, stream));
  return sorted ? createSortedResults(ctx, lineStream) : lineStream;
}

interface LineStream extends ResultsSink {
  /** Writes a line without its row. Resolves to false once the reader is gone. */
  write(line: ResultsLine): Promise<boolean>;
}

function createStandardOutputStream(ctx: Context): LineStream {
  const write = async (line: ResultsLine): Promise<boolean> => {
    const text = await formatJsonLine(ctx, line);
    return await ctx.io.out(text).catch((error: unknown) => {
      if (line.runId === null) throw error;
      throw unwrittenError(`the result of run ${line.runId} was not printed`, error);
    });
  };
  return { ...STREAM_DEFAULTS, write, close: async () => {} };
}

function unwrittenError(message: string, cause: unknown): CliError {
  return new CliError(`${message}: ${getErrorMessage(cause)}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: ['No more runs were started. The journal of the batch names those that were made.'],
    cause,
  });
}

async function openNamedStream(ctx: Context, stream: string): Promise<SpecialFile> {
  const specialFile = await openSpecialFile(ctx, path.resolve(ctx.cwd, stream)).catch(
    (error: unknown) => {
      throw usageError(`--out: ${stream} can't be written: ${getErrorMessage(error)}`);
    },
  );
  const write = (data: string | Uint8Array): Promise<boolean> =>
    specialFile.write(data).catch((error: unknown) => {
      throw unwrittenError(`${stream} can't be written`, error);
    });
  return { ...specialFile, write };
}

function createLineStream({ isTerminal, write, close }: SpecialFile): LineStream {
  return {
    ...STREAM_DEFAULTS,
    write: async line => write(`${await toJson(line, { isTerminal, indent: 0 })}\n`),
    close,
  };
}

/** Makes the table in a temporary file first, because a later row may need more columns. */
async function createTableResults(
  ctx: Context,
  specialFile: SpecialFile,
  { excel, sorted }: StreamOptions,
): Promise<ResultsSink> {
  const { CsvResults } = await import('./csv-results.ts');
  return createCollectedResults({
    sorted,
    open: file => CsvResults.open(ctx, { out: `${file}.csv`, resume: false, excel }, new Map()),
    copyToStream: async file => {
      for await (const piece of readCollectedText(`${file}.csv`)) {
        if (!(await specialFile.write(specialFile.isTerminal ? escapeControls(piece) : piece))) {
          return;
        }
      }
    },
    close: specialFile.close,
  });
}

/** Collects lines in a temporary file first, to sort them once the last row has ended. */
function createSortedResults(ctx: Context, lineStream: LineStream): Promise<ResultsSink> {
  return createCollectedResults({
    sorted: true,
    open: file => JsonlResults.open(ctx, { out: file, resume: false }),
    copyToStream: async file => {
      for await (const { text } of splitIntoLines(readCollectedText(file))) {
        if (!(await lineStream.write(JSON.parse(text) as ResultsLine))) return;
      }
    },
    close: lineStream.close,
  });
}

interface CollectedResultsOptions {
  readonly sorted: boolean;
  open(file: string): Promise<ResultsSink>;
  /** Copies the finished file to the stream; ends early once the stream has no reader. */
  copyToStream(file: string): Promise<void>;
  close(): Promise<void>;
}

/** Collects results in a temporary file and copies them to a stream at the end. */
async function createCollectedResults({
  sorted,
  open,
  copyToStream,
  close,
}: CollectedResultsOptions): Promise<ResultsSink> {
  const folder = await mkdtemp(path.join(tmpdir(), 'promptrun-'));
  const file = path.join(folder, 'results');

  const results = await open(file);
  let hasFinished = false;
  const finish = async (): Promise<void> => {
    if (hasFinished) return;
    hasFinished = true;
    await results.finish(sorted);
    await copyToStream(file);
  };

  return {
    states: results.states,
    hasEarlierResults: false,
    write: (line, row) => results.write(line, row),
    finish,
    close: () =>
      takeEachStep([
        finish,
        () => results.close(),
        close,
        () => rm(folder, { recursive: true, force: true }),
      ]),
  };
}

/** Takes the steps in this order, the later ones even if an earlier one fails. */
async function takeEachStep([
  step,
  ...laterSteps
]: readonly (() => Promise<void>)[]): Promise<void> {
  try {
    await step?.();
  } finally {
    if (laterSteps.length > 0) await takeEachStep(laterSteps);
  }
}

function readCollectedText(file: string): AsyncIterable<string> {
  return createReadStream(file, { encoding: 'utf8' }) as AsyncIterable<string>;
}
