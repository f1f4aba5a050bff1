import { readJson } from '../../../files/formats/json.ts';
import { isJsonObject, MAX_JSON, type UncheckedObject } from '../../../utils/bounded-json.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../core/errors.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import type { CaseRuns } from '../../statistics/rates.ts';
import type { RepeatOptions } from '../cases/repeat-cases.ts';

/** An earlier report to compare a test with. */
export interface Baseline {
  readonly cases: readonly BaselineCase[];
}

/** The identity of a case in reports. */
export interface CaseName {
  readonly file: string;
  readonly name: string;
  /** null for the prompt's own model. */
  readonly model: string | null;
}

export interface BaselineCase extends CaseName {
  /** undefined if the case could not be run. */
  readonly caseRuns: CaseRuns | undefined;
}

const MAX_BASELINE_BYTES = 512 * 1024 * 1024;

/** Limits on a report, enough for 100,000 cases with many expectations each. */
const BASELINE_LIMITS = { ...MAX_JSON, values: 20_000_000 };
const BASELINE_HINT = 'Make one with: promptrun test --reporter json --out results.json';

/**
 * Reads a report of `--reporter json`.
 *
 * @throws {CliError} USAGE_ERROR if the file is not such a report, or the report was made with
 * another `--sure`
 */
export async function readBaseline(
  ctx: Context,
  file: string,
  repeatOptions: RepeatOptions,
): Promise<Baseline> {
  const text = await readTextFile(file, ctx.cwd, '--baseline', MAX_BASELINE_BYTES);
  const json = readJson(text.replace(/^\uFEFF/u, ''), BASELINE_LIMITS);
  if ('fault' in json) throw notAReportError(file, `it ${json.fault}`);

  const report = json.value;
  if (!isJsonObject(report) || !Array.isArray(report['cases'])) {
    throw notAReportError(file, 'it contains no cases');
  }

  checkStoppingRule(file, report['sure'], repeatOptions);
  return {
    cases: report['cases'].map((value, index) => parseCase(value, `cases[${index}]`, file)),
  };
}

/**
 * Refuses a report with other stopping rules, because stopping early biases rates by an amount that
 * depends on the rule.
 */
function checkStoppingRule(file: string, sure: unknown, repeatOptions: RepeatOptions): void {
  const maxRepeatBefore = isJsonObject(sure) ? Number(sure['maxRepeat']) : undefined;
  const maxRepeat = repeatOptions.sure ? repeatOptions.maxRepeat : undefined;
  if (maxRepeatBefore === maxRepeat) return;
  throw usageError(
    `--baseline: ${file} was made ${formatSureFlags(maxRepeatBefore)}, and this test runs ${formatSureFlags(maxRepeat)}`,
    'Rates that were stopped early are biased: make both reports with the same flags.',
  );
}

function formatSureFlags(maxRepeat: number | undefined): string {
  return maxRepeat === undefined ? 'without --sure' : `with --sure --max-repeat ${maxRepeat}`;
}

function parseCase(value: unknown, place: string, file: string): BaselineCase {
  if (!isJsonObject(value)) throw notAReportError(file, `${place} is not a case`);

  const { file: testFile, name, model = null } = value;
  if (typeof testFile !== 'string' || typeof name !== 'string') {
    throw notAReportError(file, `${place} has no file or no name`);
  }

  if (model !== null && typeof model !== 'string') {
    throw notAReportError(file, `${place}.model is not a name`);
  }

  return { file: testFile, name, model, caseRuns: parseCounts(value, place, file) };
}

function parseCounts(
  { passed, runs }: UncheckedObject,
  place: string,
  file: string,
): CaseRuns | undefined {
  if (passed === null && runs === null) return undefined;
  const areCounts = isCount(passed) && isCount(runs) && runs >= 1 && passed <= runs;
  if (areCounts) return { passed, runs };
  throw notAReportError(file, `${place} does not say how many of its runs passed`);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function notAReportError(file: string, reason: string): CliError {
  return usageError(`--baseline: ${file} is not a JSON report of tests: ${reason}`, BASELINE_HINT);
}
