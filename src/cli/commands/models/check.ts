import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { toDollars } from '../../../wire/money.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { CliError, configError, usageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import { type CreationRequest, checkModelAccess } from '../../creation/creation-result.ts';
import { Budget } from '../../creation/spending/budget.ts';
import { parseCaps } from '../../creation/spending/caps.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { joinTextOutputs } from '../../outputs/output-schema.ts';
import { type ListForm, presentList } from '../../outputs/present.ts';
import { printPaid } from '../../outputs/present-run.ts';
import { joinErrors } from '../../outputs/run-errors.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { resolveTarget } from '../../targets/resolve-target.ts';
import type { MODELS_CHECK } from './spec.ts';

const MODEL_CHECK_PROMPT = `---
title: Check of a model
---
Answer with the one word ready.
`;

/** The result of asking a model. */
interface CheckedModel {
  readonly model: string;
  /** `capped` if it was not asked because the cap was reached. */
  readonly status: 'answered' | 'failed' | 'capped';
  readonly runId: string | null;
  /** The answer, or the reason of the failure. */
  readonly answer: string;
  readonly seconds: number;
  /** The cost in US dollars; null if unknown. */
  readonly cost: number | null;
}

const MODEL_TABLE: ListForm<CheckedModel> = {
  columns: [
    { title: 'MODEL', cell: ({ model }) => model },
    { title: 'STATUS', cell: ({ status }) => status },
    {
      title: 'TIME',
      cell: ({ seconds }) => `${seconds.toFixed(1)} s`,
      plain: ({ seconds }) => seconds.toFixed(3),
    },
    {
      title: 'COST',
      cell: ({ cost }) => (cost === null ? 'unknown' : `$${cost}`),
      plain: ({ cost }) => (cost === null ? '-' : String(cost)),
    },
    { title: 'ANSWER', minWidth: 20, cell: ({ answer }) => answer },
  ],
  emptyText: 'no models to check',
};

/** Asks each model for one word, and shows the answer, its time and its cost. */
export async function checkModelAnswers(
  ctx: Context,
  names: readonly string[],
  flags: FlagsOf<typeof MODELS_CHECK.flags>,
): Promise<ExitCode> {
  requireLocalService(ctx, 'models check');
  const models = await listModelsToCheck(ctx, names);
  const connection = await ctx.localConnection();
  const budget = new Budget(ctx, parseCaps(flags), { refusesOneByOne: true });
  budget.checkCostCap(connection);
  const requests = await prepareModelChecks(ctx, connection, models);
  for (const { request } of requests) await budget.checkPrice(connection, request);

  const checkedModels: CheckedModel[] = [];
  for (const { model, request } of requests) {
    checkedModels.push(await runModelCheck(ctx, connection, { model, request, budget }));
  }

  await printPaid(ctx, budget.newRuns, out => presentList(out, checkedModels, MODEL_TABLE));
  if (checkedModels.some(({ status }) => status === 'capped')) return EXIT.capReached;
  return checkedModels.some(({ status }) => status === 'failed') ? EXIT.runFailed : EXIT.ok;
}

/**
 * Returns the named models; without names, every declared program and address.
 *
 * @throws {CliError} USAGE_ERROR for an unknown name, CONFIG_ERROR if faults of models files are the
 * reason that nothing is declared
 */
async function listModelsToCheck(ctx: Context, names: readonly string[]): Promise<string[]> {
  const { loadModels } = await import('../../../models/catalogue/model-table.ts');
  const faults: string[] = [];
  const onProblem = (problem: Error): void => void faults.push(getErrorMessage(problem));
  const table = await loadModels({ ...ctx, watch: false, onProblem });

  const unknownName = names.find(name => table.get(name) === undefined);
  if (unknownName !== undefined) throw usageError(table.explainMissing(unknownName));
  if (names.length > 0) return [...new Set(names)];

  const declaredModels = table
    .list()
    .flatMap(({ model, declaration }) => (declaration ? [model] : []));
  if (declaredModels.length === 0) {
    if (faults.length > 0) throw configError('no model to check', ...faults);
    ctx.io.note(
      'note: models.yaml declares no program and no address; to check another model, name it',
    );
  }

  return declaredModels;
}

interface ModelCheck {
  readonly model: string;
  readonly request: CreationRequest;
}

/** Publishes the prompt of the check for each model, and returns the requests. */
async function prepareModelChecks(
  ctx: Context,
  connection: Connection,
  models: readonly string[],
): Promise<ModelCheck[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-check-'));
  try {
    const promptPath = path.join(directory, 'check.prompt');
    await writeFile(promptPath, MODEL_CHECK_PROMPT);

    const checks: ModelCheck[] = [];
    for (const model of models) {
      const { promptVersionId } = await resolveTarget(ctx, connection, promptPath, {
        source: 'elsewhere',
        model,
      });
      const inputs = {
        text: new Map<string, string>(),
        images: [],
        options: new Map<string, string>(),
      };
      checks.push({ model, request: buildRunBody({ promptVersionId, model, ...inputs }) });
    }

    return checks;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runModelCheck(
  ctx: Context,
  connection: Connection,
  { model, request, budget }: ModelCheck & { readonly budget: Budget },
): Promise<CheckedModel> {
  const startedAt = ctx.clock.now();
  const toCheckedModel = (result: Omit<CheckedModel, 'model' | 'seconds'>): CheckedModel => ({
    model,
    ...result,
    seconds: (ctx.clock.now() - startedAt) / 1000,
  });

  try {
    await checkModelAccess(connection, request.promptVersionId);
    const creation = await createAndWait(ctx, connection, request, { budget });
    if (creation.kind !== 'ended') throw new Error('the run has not ended');

    const { runId, runStatus, outputs } = creation.run;
    const { cost } = budget.getRunSpend(runId);
    const hasFailed = runStatus === 'failed';

    return toCheckedModel({
      status: hasFailed ? 'failed' : 'answered',
      runId,
      answer: hasFailed ? joinErrors(creation.run) : joinTextOutputs(outputs),
      cost: cost === undefined ? null : toDollars(cost),
    });
  } catch (error) {
    ctx.signal.throwIfAborted();
    const isCapped = error instanceof CliError && error.exitCode === EXIT.capReached;
    return toCheckedModel({
      status: isCapped ? 'capped' : 'failed',
      runId: null,
      answer: getErrorMessage(error),
      cost: null,
    });
  }
}
