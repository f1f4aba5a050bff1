import type { Context } from '../context.ts';
import type { CapFlags } from '../core/shared-flags.ts';
import { Budget } from '../creation/spending/budget.ts';
import { type Caps, parseCaps } from '../creation/spending/caps.ts';
import { checkOptions, parseModelNames, parseOptions } from '../inputs/flag-values.ts';
import { createImageOpener } from '../inputs/images/image-source.ts';
import { openImages } from '../inputs/images/place-images.ts';
import type { SourceFlags } from '../inputs/rows/row-source.ts';
import { collectInputs } from '../inputs/text-inputs.ts';
import { createPacedConnector } from '../jobs/paced-connection.ts';
import { usesProviderBatch } from '../jobs/provider-batch/batch-flags.ts';
import { findBatchProvider } from '../jobs/provider-batch/batch-session.ts';
import { readFlagOrSetting } from '../settings/settings.ts';
import type { Expectation } from '../testing/expectations/expectation.ts';
import { Judge } from '../testing/judging/judge.ts';
import { type CheckedRow, readCheckedRows } from './checked-rows.ts';
import { createVariants, type Variant } from './create-variants.ts';
import { type ExpectedCases, listJudgedExpectations, readExpectedCases } from './expected-cases.ts';

/** The flags that decide what is compared. */
export interface ComparisonFlags extends CapFlags {
  readonly from?: SourceFlags['from'];
  readonly format?: Exclude<SourceFlags['format'], undefined>;
  readonly delimiter?: string;
  readonly input: readonly string[];
  readonly image: readonly string[];
  readonly option: readonly string[];
  readonly model: readonly string[];
  readonly expect?: string;
  readonly judge?: string;
  readonly allowCommands?: boolean;
  readonly rate?: string;
  readonly concurrency?: string;
  readonly providerBatch?: boolean;
  readonly cancel?: boolean;
}

/** A comparison that is checked and ready to run. */
export interface PreparedComparison {
  readonly variants: readonly Variant[];
  readonly rows: readonly CheckedRow[];
  /** The cases that judge the answers; undefined without `--expect`. */
  readonly expectedCases: ExpectedCases | undefined;
  /** The expectations that need a judge. */
  readonly judgedExpectations: readonly Expectation[];
  readonly judge: Judge;
  readonly budget: Budget;
  readonly caps: Caps;
  /** Maximum number of open creations at each service; undefined for the service's default. */
  readonly concurrency: number | undefined;
  /** True to hand requests over to their models' provider as its batches. */
  readonly providerBatch: boolean;
  /** The names of its rows, targets and models, by which its journal is found again. */
  readonly names: readonly string[];
}

/**
 * Reads and checks everything that a comparison needs, before anything is created.
 *
 * @throws {CliError}
 */
export async function prepareComparison(
  ctx: Context,
  targets: readonly string[],
  flags: ComparisonFlags,
): Promise<PreparedComparison> {
  const { from, format, delimiter, input, image } = flags;
  const rate = readFlagOrSetting(ctx.settings, 'rate', flags.rate);
  const concurrency = readFlagOrSetting(ctx.settings, 'concurrency', flags.concurrency);
  const caps = parseCaps(flags);
  const budget = new Budget(ctx, caps);
  const options = parseOptions(flags.option);
  const { text, images } = await collectInputs(ctx, { inputs: input, images: image });
  const common = { text, images: await openImages(createImageOpener(ctx), images), options };
  const openConnection = createPacedConnector(ctx, rate);
  for (const target of targets) budget.checkCostCap(await openConnection(target));

  const variants = await createVariants(ctx, openConnection, targets, parseModelNames(flags.model));
  for (const { connection, promptVersionId } of variants) {
    await checkOptions(ctx, connection, { promptVersionId, options });
  }

  const rows = await readCheckedRows(ctx, { from, format, delimiter }, common, variants);
  const judge = new Judge(ctx, flags.judge, budget);
  const { expect, allowCommands = false } = flags;
  const expectedCases =
    expect === undefined
      ? undefined
      : await readExpectedCases(ctx, expect, rows, { variants, judge, allowCommands });
  const judgedExpectations = expectedCases ? listJudgedExpectations(expectedCases) : [];
  const providerBatch = usesProviderBatch(ctx, flags);
  if (providerBatch) await checkBatchProviders(variants, judge, judgedExpectations);

  return {
    variants,
    rows,
    expectedCases,
    judgedExpectations,
    judge,
    budget,
    caps,
    concurrency,
    providerBatch,
    names: [ctx.cwd, from ?? JSON.stringify([input, image]), ...targets, ...flags.model],
  };
}

/** @throws {CliError} USAGE_ERROR if a provider has no batches */
async function checkBatchProviders(
  variants: readonly Variant[],
  judge: Judge,
  judgedExpectations: readonly Expectation[],
): Promise<void> {
  for (const { connection, promptVersionId } of variants) {
    await findBatchProvider(connection, promptVersionId);
  }
  for (const expectation of judgedExpectations) await judge.checkBatch(expectation);
}
