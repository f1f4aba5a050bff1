import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { parseCaps } from '../../creation/spending/caps.ts';
import { formatSpentLines } from '../../creation/spending/spending-text.ts';
import { usesProviderBatch } from '../../jobs/provider-batch/batch-flags.ts';
import { printPaid } from '../../outputs/present-run.ts';
import { printValue } from '../../outputs/print-json.ts';
import { readFlagOrSetting } from '../../settings/settings.ts';
import type { Kappa } from '../../statistics/kappa.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { MAX_REPEAT } from '../../testing/cases/repeat-cases.ts';
import { type Agreement, formatAgreement, measureAgreement, toAgreementData } from './agreement.ts';
import {
  findWorstFault,
  type JudgeCheckOptions,
  judgeLabelledRows,
} from './judge-labelled-rows.ts';
import type { JUDGE_CHECK } from './spec.ts';

type JudgeCheckFlags = FlagsOf<typeof JUDGE_CHECK.flags>;

/** Measures how well a judging model agrees with labels. */
export async function runJudgeCheck(
  ctx: Context,
  labels: string,
  flags: JudgeCheckFlags,
): Promise<ExitCode> {
  const gate = readKappaGate(flags);
  const options = readJudgeCheckOptions(ctx, labels, flags);
  const check = await judgeLabelledRows(ctx, options);
  const agreement = measureAgreement(check.judgedRows);
  await printPaid(ctx, check.budget.newRuns, out => printAgreement(out, agreement));
  for (const line of formatSpentLines(check.budget, 'rows')) ctx.io.note(`note: ${line}`);
  const fault = findWorstFault(check);
  if (fault !== undefined) throw fault;

  if (agreement.kappa === undefined && ctx.globals.json) {
    ctx.io.note(
      "note: Cohen's kappa is not defined, because all labels and all verdicts of the judge are the same",
    );
  }

  if (gate === undefined || !missesGate(agreement.kappa, gate)) return EXIT.ok;

  ctx.io.error(`error: ${explainKappaMiss(agreement.kappa, gate)}`);
  return EXIT.runFailed;
}

async function printAgreement(ctx: Context, agreement: Agreement): Promise<void> {
  if (ctx.globals.json) return printValue(ctx, toAgreementData(agreement));
  const lines = formatAgreement(agreement).map(line => `${escapeControls(line)}\n`);
  await ctx.io.out(lines.join(''));
}

interface KappaGate {
  readonly minKappa: number;
  /** True if the low end of kappa's interval must reach the minimum, too. */
  readonly needsWholeInterval: boolean;
}

function missesGate(
  kappa: Kappa | undefined,
  { minKappa, needsWholeInterval }: KappaGate,
): boolean {
  if (kappa === undefined) return true;
  return kappa.value < minKappa || (needsWholeInterval && kappa.interval[0] < minKappa);
}

/** Returns the reason that the gate isn't passed. */
function explainKappaMiss(kappa: Kappa | undefined, { minKappa }: KappaGate): string {
  if (kappa === undefined) {
    return `Cohen's kappa is not defined, and --min-kappa requires ${minKappa}`;
  }

  const isValueBelow = kappa.value < minKappa;
  const measure = isValueBelow ? "Cohen's kappa" : "the low end of the interval of Cohen's kappa";
  const value = isValueBelow ? kappa.value : kappa.interval[0];
  return `${measure} is ${value.toFixed(3)}, below --min-kappa ${minKappa}`;
}

/** Returns the gate of `--min-kappa` and `--sure`; undefined without them. */
function readKappaGate(flags: JudgeCheckFlags): KappaGate | undefined {
  const { minKappa: text, sure = false } = flags;
  if (text === undefined) {
    if (sure) throw usageError('--sure needs --min-kappa');
    return undefined;
  }

  const minKappa = /^-?\d(?:\.\d{1,9})?$/u.test(text) ? Number(text) : Number.NaN;
  if (minKappa >= -1 && minKappa <= 1) return { minKappa, needsWholeInterval: sure };
  throw usageError(
    `--min-kappa takes a number from -1 to 1, such as 0.6, not ${JSON.stringify(text)}`,
  );
}

function readJudgeCheckOptions(
  ctx: Context,
  labels: string,
  flags: JudgeCheckFlags,
): JudgeCheckOptions {
  const { resume = false, retryUnknown = false, cancel = false } = flags;
  if (retryUnknown && !resume) throw usageError('--retry-unknown needs --resume');
  if (cancel && !resume) throw usageError('--cancel needs --resume');

  const judge = flags.judge ?? ctx.settings.get('judge');
  if (judge === undefined) {
    throw usageError(
      '--judge is missing: the model to check',
      'Or set one for good: promptrun config set judge <model>.',
    );
  }

  return {
    source: { from: labels, format: flags.format, delimiter: flags.delimiter },
    rubric: flags.rubric,
    judge,
    repeat: parseRepeat(flags.repeat),
    caps: parseCaps(flags),
    concurrency: readFlagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    rate: readFlagOrSetting(ctx.settings, 'rate', flags.rate),
    resume,
    retryUnknown,
    providerBatch: usesProviderBatch(ctx, flags),
    cancel,
  };
}

function parseRepeat(text = '1'): number {
  const repeat = /^\d{1,9}$/u.test(text) ? Number(text) : 0;
  if (repeat >= 1 && repeat <= MAX_REPEAT) return repeat;
  throw usageError(
    `--repeat takes a whole number from 1 to ${MAX_REPEAT}, not ${JSON.stringify(text)}`,
  );
}
