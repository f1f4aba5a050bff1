import { ValidationError } from '../../../client/errors.ts';
import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { CliError, usageError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/exit-codes.ts';
import { toFailure } from '../../core/failure.ts';
import { Budget } from '../../creation/budget.ts';
import { parseCaps } from '../../creation/caps.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import { suppliedInputFault, UNCHECKED } from '../../inputs/check-inputs.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import { checkOptions, parseOptions } from '../../inputs/flag-values.ts';
import { commandLineImages, type ImageSource, openImage } from '../../inputs/images/image-source.ts';
import { openImages, placeImages } from '../../inputs/images/place-images.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { outputPlan, presentRun, printResult } from '../../outputs/present-run.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { readVersion, resolveTarget } from '../../targets/resolve-target.ts';
import { startProgress } from '../../terminal/spinner.ts';
import { askOfRun, checkRunsNamed, namedRun } from './named-run.ts';
import {
  type KeptImage,
  type RequestOfRun,
  requestFromManifest,
  requestFromService,
} from './request-of-run.ts';
import type { RUNS_RERUN } from './spec.ts';

export type RunsRerunFlags = FlagsOf<typeof RUNS_RERUN.flags>;

/** Creates the same run again, with the changes of the flags, as a new creation. */
export async function runsRerun(
  ctx: Context,
  name: string | undefined,
  flags: RunsRerunFlags,
): Promise<ExitCode> {
  checkRunsNamed(ctx, name === undefined ? [] : [name], flags);
  if (flags.compare === true && (flags.save !== undefined || flags.open === true)) {
    throw usageError(
      '--compare shows both outputs; it saves and opens none',
      `Save those of the new run with: ${ctx.advise('runs', 'save', '--last')}`,
    );
  }
  if (flags.model !== undefined) requireLocalService(ctx, '--model');
  const budget = new Budget(ctx, parseCaps(flags));
  const presentationFor = await outputPlan(ctx, flags);
  const connection = await ctx.connection();
  budget.checkCostCap(connection);
  const former = name?.endsWith('.json')
    ? await requestFromManifest(ctx, connection, name)
    : await requestFromService(ctx, connection, await namedRun(ctx, connection, name));
  const request = await changedRequest(ctx, connection, former, flags);
  // Read before the new run is paid for, because there is nothing to compare with if the former one is gone.
  const comparedRun = flags.compare === true ? await formerRun(ctx, connection, former.runId) : undefined;
  const startedAt = ctx.clock.now();
  const run = await createRerun(ctx, connection, request, budget).catch((error: unknown) => {
    throw withModelsFlag(ctx, connection, error);
  });
  const facts = { request, startedAt, endedAt: ctx.clock.now() };
  return printResult(ctx, { runId: run.runId, connection }, async out => {
    if (comparedRun === undefined) return presentRun(out, connection, run, presentationFor(facts));
    const { compareWithFormer } = await import('../../comparing/compare-runs.ts');
    return compareWithFormer(out, connection, comparedRun, run);
  });
}

/** Adds a hint to name the models file again to a refusal of its model. */
function withModelsFlag({ globals }: Context, { embedded }: Connection, error: unknown): unknown {
  const isMissing = error instanceof ValidationError && error.message.includes('` does not exist');
  if (!isMissing || !embedded || globals.models !== undefined) return error;
  const { message, ...failure } = toFailure(error);
  const hints = ['If the model is in a models file, name the file again: --models <file>'];
  return new CliError(message, { ...failure, hints, cause: error });
}

async function formerRun(ctx: Context, connection: Connection, runId: string): Promise<Run> {
  const asking = connection.client.runs.get(runId, { signal: ctx.signal });
  return await askOfRun(ctx, connection, { verb: 'rerun', runId }, asking);
}

async function changedRequest(
  ctx: Context,
  connection: Connection,
  former: RequestOfRun,
  flags: RunsRerunFlags,
): Promise<RunRequest> {
  const suppliedInputs = await collectInputs(ctx, { inputs: flags.input, images: flags.image });
  const images = await openImages(commandLineImages(ctx), suppliedInputs.images);
  const newOptions = parseOptions(flags.option);
  const { promptVersionId } = await resolveTarget(ctx, connection, former.promptVersionId, {
    source: 'elsewhere',
    model: flags.model,
  });
  if (flags.validate) await checkOptions(ctx, connection, promptVersionId, newOptions, UNCHECKED);
  const isNamed = images.some(({ name }) => name !== undefined);
  const isChecked = flags.validate && suppliedInputs.text.size > 0 && !ctx.isReplay;
  const config =
    isNamed || isChecked
      ? (await readVersion(ctx, connection, { promptVersionId, mayBePrompt: false })).config
      : {};
  const fields = describeConfig(config);
  const placedInputs = placeImages(fields, { text: suppliedInputs.text, images });
  const fault = isChecked ? suppliedInputFault(fields, { text: suppliedInputs.text, images: [] }) : undefined;
  if (fault !== undefined) throw fault;
  return {
    promptVersionId,
    text: new Map([...former.text, ...suppliedInputs.text]),
    images: await rerunImages(ctx, former, placedInputs.images, flags.otherImages === true),
    options: new Map([...former.options, ...newOptions]),
  };
}

/** Returns the images for the new run. @throws {CliError} exit 2 if one is missing, or differs from the run's */
async function rerunImages(
  ctx: Context,
  { images: former, runId }: RequestOfRun,
  suppliedImages: readonly (ImageSource | undefined)[],
  allowsOthers: boolean,
): Promise<ImageSource[]> {
  const missingNames = former.flatMap((image, index) =>
    suppliedImages[index] || 'image' in image ? [] : [image.name],
  );
  if (missingNames.length > 0) {
    throw usageError(
      `the images of run ${runId} must be given again: ${missingNames.join(', ')}`,
      'Give each with --image, in order.',
    );
  }
  const images: ImageSource[] = [];
  for (let at = 0; at < Math.max(former.length, suppliedImages.length); at += 1) {
    const [before, now] = [former[at], suppliedImages[at]];
    if (now !== undefined && before !== undefined && !allowsOthers) checkSame(now, before, runId);
    if (now !== undefined) images.push(now);
    else if (before !== undefined && 'image' in before) images.push(await openImage(ctx, before.image));
  }
  return images;
}

function checkSame(image: ImageSource, keptImage: KeptImage, runId: string): void {
  if (!('sha256' in keptImage) || ('sha256' in image && image.sha256 === keptImage.sha256)) return;
  throw usageError(
    `image ${image.name} differs from the one of run ${runId}${keptImage.name === '' ? '' : ` (${keptImage.name})`}`,
    'To run it with other images, add --other-images.',
  );
}

async function createRerun(
  ctx: Context,
  connection: Connection,
  request: RunRequest,
  budget: Budget,
): Promise<Run> {
  const progress = startProgress(ctx, { status: 'creating the run', polls: 0 });
  try {
    const creation = await createAndWait(ctx, connection, buildRunBody(request), {
      budget,
      onProgress: state => progress.update(state),
    });
    if (creation.kind === 'ended') return creation.run;
    throw new Error('a run that was waited for has not ended');
  } finally {
    progress.stop();
  }
}
