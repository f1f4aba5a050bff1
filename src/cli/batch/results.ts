import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../context.ts';
import { printRow } from '../outputs/json.ts';
import type { BatchOptions } from './options.ts';
import { existsAlready, openResults } from './results-file.ts';
import type { ResultsLine, RowState } from './results-line.ts';

/** Where a batch's results go. */
export interface Results {
  /** What is known of rows from before, by their ids. */
  readonly states: ReadonlyMap<string, RowState>;
  /** Keeps where a row has got to; resolves once it would survive a power cut. */
  keep(line: object): Promise<void>;
  /** Gives what became of a row. False once nobody reads it any more. */
  give(line: ResultsLine): Promise<boolean>;
  close(): Promise<void>;
}

/** Refuses a file that must not be written to before anything is asked of the service. */
export async function checkOut(ctx: Context, { out, resume }: BatchOptions): Promise<void> {
  if (out === undefined || resume) {
    return;
  }
  const exists = await access(path.resolve(ctx.cwd, out)).then(
    () => true,
    () => false,
  );
  if (exists) {
    throw existsAlready(out);
  }
}

/** A file that holds each step, or standard output, which shows only how rows end. */
export async function openResultsOf(ctx: Context, { out, resume }: BatchOptions): Promise<Results> {
  if (out === undefined) {
    return {
      states: new Map(),
      keep: async () => {},
      give: line => printRow(ctx, line),
      close: async () => {},
    };
  }
  const file = await openResults(out, { cwd: ctx.cwd, resume, note: line => ctx.io.note(line) });
  const append = (line: object): Promise<void> => file.append(JSON.stringify(line));
  return {
    states: file.states,
    keep: append,
    give: async line => {
      await append(line);
      return true;
    },
    close: () => file.close(),
  };
}
