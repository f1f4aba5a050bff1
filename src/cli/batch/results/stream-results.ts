import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { messageOf } from '../../../files/error-utils.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { toJson } from '../../outputs/json.ts';
import { openSpecialFile, type SpecialFile } from '../../outputs/saving/special-file.ts';
import { visible } from '../../terminal/sanitise.ts';
import { isTable } from '../options.ts';
import type { ResultsFile } from './results-line.ts';

interface StreamOptions {
  readonly stream: string;
  readonly excel: boolean;
}

/** Opens a device or a pipe for results. @throws {CliError} if that fails */
export async function openStream(ctx: Context, options: StreamOptions): Promise<ResultsFile> {
  const { stream } = options;
  const special = await openSpecialFile(ctx, path.resolve(ctx.cwd, stream)).catch((error: unknown) => {
    throw usageError(`--out: ${stream} can't be written: ${messageOf(error)}`);
  });
  const write = (data: string | Uint8Array): Promise<boolean> =>
    special.write(data).catch((error: unknown) => {
      throw new CliError(`${stream} can't be written: ${messageOf(error)}`, {
        status: 'FILE_ERROR',
        exitCode: EXIT.fault,
        hints: ['No more runs were started. The journal of the batch names those that were made.'],
        cause: error,
      });
    });
  const checked = { ...special, write };
  return isTable(stream) ? tableResults(ctx, checked, options) : lineResults(checked);
}

function lineResults({ isTerminal, write, close }: SpecialFile): ResultsFile {
  return {
    states: new Map(),
    existed: false,
    write: line => write(`${toJson(line, { isTerminal, indent: 0 })}\n`),
    finish: async () => {},
    close,
  };
}

/** Makes the table in a temporary file first, because a later row may need more columns. */
async function tableResults(
  ctx: Context,
  special: SpecialFile,
  { excel }: StreamOptions,
): Promise<ResultsFile> {
  const folder = await mkdtemp(path.join(tmpdir(), 'promptrun-'));
  const file = path.join(folder, 'results.csv');
  const { CsvResults } = await import('./csv-results.ts');
  const table = await CsvResults.open(ctx, { out: file, resume: false, excel }, new Map());
  let isWritten = false;
  const copy = async (): Promise<void> => {
    if (isWritten) return;
    isWritten = true;
    for await (const piece of createReadStream(file, { encoding: 'utf8' }) as AsyncIterable<string>) {
      if (!(await special.write(special.isTerminal ? visible(piece) : piece))) return;
    }
  };
  return {
    states: table.states,
    existed: false,
    write: (line, row) => table.write(line, row),
    finish: async sorted => {
      await table.finish(sorted);
      await copy();
    },
    close: async () => {
      try {
        await table.close();
        await copy();
      } finally {
        await special.close();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
