import path from 'node:path';
import { usageError } from '../errors.ts';

export const REPORTERS = ['junit', 'json', 'github', 'html', 'markdown'] as const;
export type Reporter = (typeof REPORTERS)[number];

/** A report, and where it goes. */
export interface ReportOutput {
  readonly reporter: Reporter;
  /** Standard output if undefined. */
  readonly out: string | undefined;
}

/**
 * Pairs reports with their files, the nth with the nth.
 *
 * @throws {CliError} USAGE_ERROR for a file without a report, or two reports in one place
 */
export function pairOutputs(
  cwd: string,
  reporters: readonly Reporter[],
  files: readonly string[],
): ReportOutput[] {
  if (files.length > reporters.length) {
    throw usageError(
      '--out needs --reporter: the form of the report',
      'For example: --reporter junit --out junit.xml',
    );
  }
  const outputs = reporters.map((reporter, at) => ({ reporter, out: files[at] }));
  const places = outputs.map(({ out }) => (out === undefined ? '' : path.resolve(cwd, out)));
  const twin = outputs.find((_, at) => places.indexOf(places[at] ?? '') !== at);
  if (twin === undefined) return outputs;
  throw usageError(
    twin.out === undefined ? 'two reports go to standard output' : `--out: two reports go to ${twin.out}`,
    'Give each --reporter an --out of its own; the nth belongs to the nth.',
  );
}
