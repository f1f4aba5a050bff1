import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../../../files/error-utils.ts';
import { DYING_MS, type Release, waitForLock } from '../../../files/lock.ts';
import { checkBelow, fileIn, makeDirectory } from '../../../files/write-below.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { unwritable } from '../../jobs/job-journal.ts';
import type { JobState } from '../../jobs/read-journal.ts';
import { printRow } from '../../outputs/json.ts';
import { checkDirectory, checkFile } from '../../outputs/writable.ts';
import type { BatchOptions } from '../options.ts';
import { existsAlready, JsonlResults, openFault } from './jsonl-results.ts';
import type { Results } from './results-line.ts';

/** Where the journal of a batch is that has no file of results; its directory is made. */
export function journalAside(ctx: Context): string {
  makeDirectory(ctx.stateDir, 0o700);
  const stamp = new Date(ctx.clock.now()).toISOString().replaceAll(/[:.]/gu, '-');
  return path.join(ctx.stateDir, `batch-${stamp}-${process.pid}.jsonl.journal`);
}

/** Refuses files that must not or can't be written to before anything is asked of the service. */
export function checkPlaces({ cwd }: Context, { out, resume, saveTo }: BatchOptions): void {
  if (saveTo !== undefined) checkDirectory(cwd, saveTo, '--save');
  if (out === undefined) return;
  const file = path.resolve(cwd, out);
  const isThere = existsSync(file);
  if (isThere) refuseSpecial(file, out);
  checkFile(cwd, out, '--out');
  for (const beside of ['.journal', '.lock']) checkBelow(fileIn(file + beside));
  // Its journal and its lock stand beside it; the directory of a new file has just been tried.
  if (isThere) checkDirectory(cwd, path.dirname(file), '--out');
  if (resume) return;
  if (isThere) throw existsAlready(out);
  if (existsSync(`${file}.journal`)) {
    throw usageError(
      `${out}.journal exists already: a batch has begun to write ${out}`,
      'add --resume to go on with it, or name another file with --out',
    );
  }
}

/** Results are read again, and rewritten where they change: a device or a pipe can only be written to. */
function refuseSpecial(file: string, name: string): void {
  const facts = statSync(file);
  if (facts.isFile() || facts.isDirectory()) return;
  throw usageError(
    `--out: ${name} is ${facts.isFIFO() ? 'a named pipe' : 'a device'}, and results are kept in a file`,
    'Redirect standard output there instead of --out, or name a file.',
  );
}

/** The file of results, or standard output. @throws {CliError} where the file must not be written to */
export async function openResults(
  ctx: Context,
  { out, resume, excel }: BatchOptions,
  before: ReadonlyMap<string, JobState>,
): Promise<Results> {
  if (out === undefined) return standardOutput(ctx);
  if (!/\.csv$/iu.test(out)) return JsonlResults.open(ctx, { out, resume });
  const { CsvResults } = await import('./csv-results.ts');
  return CsvResults.open(ctx, { out, resume, excel }, before);
}

function standardOutput(ctx: Context): Results {
  return {
    states: new Map(),
    existed: false,
    give: line => printRow(ctx, line),
    finish: async () => {},
    close: async () => {},
  };
}

/** Holds the results against every other batch. @throws {CliError} where another one writes to them */
export async function holdResults({ clock }: Context, file: string, name: string): Promise<Release> {
  let release: Release | undefined;
  try {
    release = await waitForLock(fileIn(file), clock, DYING_MS);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw openFault(error, file, name);
    throw unwritable(`${name}.lock`, error);
  }
  if (release === undefined) {
    throw usageError(
      `another batch is writing to ${name}`,
      'wait until it ends, or name another file with --out',
    );
  }
  return release;
}
