import { isTransientFault } from '../../../client/http/retry.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Connection, Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import type { QuestionAnswers } from '../../inputs/ask-for-inputs.ts';
import {
  checkInputs,
  findInputFault,
  findSuppliedInputFault,
  NO_VALIDATE_HINTS,
} from '../../inputs/check-inputs.ts';
import { checkOptions, parseOptions } from '../../inputs/flag-values.ts';
import { createImageOpener } from '../../inputs/images/image-source.ts';
import {
  openImages,
  openNamedImages,
  type PlacedInputs,
  placeImages,
  type UnplacedImage,
  type UnplacedInputs,
} from '../../inputs/images/place-images.ts';
import { readInputFields } from '../../inputs/read-input-fields.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { findPromptFile, getTargetConnection } from '../../targets/prompt-file.ts';
import { type ResolvedTarget, readVersion, resolveTarget } from '../../targets/resolve-target.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { detectShell } from '../../terminal/shell-words.ts';
import type { RunFlags } from './run-argv.ts';

/** A run that has passed every check that needs no creation. */
export interface PreparedRun {
  readonly connection: Connection;
  readonly request: RunRequest;
  /** True if the requested id may be a prompt's: it was not looked up as a version's. */
  readonly mayBePrompt: boolean;
  /** The estimated credits of a run, from the service's search. */
  readonly estimatedCredits?: unknown;
  /** True to check the inputs of a version that the service looks up; false with `--no-validate`. */
  readonly validate: boolean;
}

/**
 * Reads, asks for and checks everything that a run needs. Off a terminal, a version id costs no
 * request.
 */
export async function prepareRun(
  ctx: Context,
  target: string | undefined,
  flags: RunFlags,
  budget: Budget | undefined,
): Promise<PreparedRun> {
  refuseImpossibleFlags(ctx, target, flags);
  const suppliedInputs = await openSuppliedInputs(ctx, flags);

  const { name, displayName, option } =
    target === undefined
      ? await askForTarget(ctx, flags)
      : { name: target, displayName: target, option: flags.option };
  const connection = await getTargetConnection(ctx, name);
  budget?.checkCostCap(connection);

  const options = parseOptions(option);
  const source = target === undefined ? 'elsewhere' : 'command line';

  const resolvedTarget = await resolveTarget(ctx, connection, name, { source, model: flags.model });
  if (flags.validate) {
    await checkOptions(ctx, connection, {
      promptVersionId: resolvedTarget.promptVersionId,
      options,
      bypassHints: NO_VALIDATE_HINTS,
    });
  }

  const { images } = suppliedInputs;
  const version = await withConfig(ctx, connection, resolvedTarget, { images, flags });
  const { promptVersionId, mayBePrompt, config } = version;
  const { inputs, answers } = await completeInputs(ctx, config, suppliedInputs, flags);
  if (answers !== undefined) {
    await noteRepeatCommand(ctx, { target, name: displayName }, { ...flags, option }, answers);
  }

  const schemaDigest = connection.recorder && (await computeSchemaFlagDigest(ctx, flags.schema));
  const request = {
    promptVersionId,
    text: inputs.text,
    images: inputs.images.filter(image => image !== undefined),
    options,
    ...(schemaDigest !== undefined && { schemaDigest }),
  };

  const { estimatedCredits } = resolvedTarget;
  return { connection, request, mayBePrompt, validate: flags.validate, estimatedCredits };
}

async function openSuppliedInputs(ctx: Context, flags: RunFlags): Promise<UnplacedInputs> {
  const { text, images } = await collectInputs(ctx, {
    inputs: flags.input,
    images: flags.image,
    ...(flags.inputs !== undefined && { inputsFile: flags.inputs }),
  });
  return {
    text,
    images: images.length === 0 ? [] : await openImages(createImageOpener(ctx), images),
  };
}

/** Refuses impossible flags before anything is read or asked. */
function refuseImpossibleFlags(
  ctx: Context,
  target: string | undefined,
  { ask, model, option }: RunFlags,
): void {
  if (target === undefined && !ctx.isInteractive) {
    throw usageError(
      'the target is missing',
      'Name what to run: an alias, a prompt file, an id or a slug. See: promptrun run --help',
    );
  }

  if (ask === true && !ctx.isInteractive) {
    throw usageError('--ask needs a terminal to ask on, without --no-input and CI');
  }

  const isFile = target !== undefined && findPromptFile(ctx, target, 'command line') !== undefined;
  if (model !== undefined && !isFile) requireLocalService(ctx, '--model');
  // The result is not needed yet: this only throws for options that can't be parsed.
  parseOptions(option);
}

/**
 * Returns a resolved target with its config, which is read if questions, names of images or a dry
 * run need it. Otherwise the target keeps the config of its look-up, or none: with a cached one, a
 * laptop could refuse what CI accepts.
 */
async function withConfig(
  ctx: Context,
  connection: Connection,
  resolvedTarget: ResolvedTarget,
  { images, flags }: { readonly images: readonly UnplacedImage[]; readonly flags: RunFlags },
): Promise<ResolvedTarget> {
  if (resolvedTarget.config !== undefined) return resolvedTarget;

  const needsConfig = canAskQuestions(ctx) || images.some(({ name }) => name !== undefined);
  const checksInputs = flags.dryRun === true && flags.validate;
  if (!needsConfig && !checksInputs) return resolvedTarget;

  try {
    const { promptVersionId, config } = await readVersion(ctx, connection, resolvedTarget);
    return { promptVersionId, config, mayBePrompt: false };
  } catch (error) {
    if (needsConfig || ctx.signal.aborted || !isTransientFault(error)) throw error;
    ctx.io.note(`note: the inputs were not checked: ${toOneLine(getErrorMessage(error))}`);
    return resolvedTarget;
  }
}

interface CompletedInputs {
  readonly inputs: PlacedInputs;
  /** The answers to questions; undefined if none can be asked. */
  readonly answers?: QuestionAnswers;
}

/** Assigns the inputs, asks for missing ones and checks them all. */
async function completeInputs(
  ctx: Context,
  config: unknown,
  suppliedInputs: UnplacedInputs,
  { ask, validate }: RunFlags,
): Promise<CompletedInputs> {
  const { text, images } = suppliedInputs;
  const namesImages = images.some(({ name }) => name !== undefined);
  if (config === undefined && !canAskQuestions(ctx) && !namesImages) {
    // Without a config there is nothing to assign or check.
    return { inputs: { text, images: images.map(({ image }) => image) } };
  }

  const fields = readInputFields(config);
  const namedInputs = await openNamedImages(fields, suppliedInputs, createImageOpener(ctx));

  const inputs = placeImages(fields, namedInputs);
  if (!canAskQuestions(ctx)) {
    if (validate) checkInputs(fields, inputs);
    return { inputs };
  }

  const fault = validate ? findSuppliedInputFault(fields, inputs) : undefined;
  if (fault !== undefined) throw fault;

  const isComplete = fields.isKnown && findInputFault(fields, inputs) === undefined;
  if (isComplete && ask !== true) return { inputs, answers: { text: [], images: [] } };

  const { askForInputs } = await import('../../inputs/ask-for-inputs.ts');
  const completedInputs = await askForInputs(ctx, fields, inputs);
  if (validate) checkInputs(fields, completedInputs.inputs);
  return completedInputs;
}

/** Writes a note with the command line that repeats the run, if anything was asked. */
async function noteRepeatCommand(
  ctx: Context,
  { target, name }: { readonly target: string | undefined; readonly name: string },
  flags: RunFlags,
  answers: QuestionAnswers,
): Promise<void> {
  if (target !== undefined && answers.text.length + answers.images.length === 0) return;
  const { buildRunArgv, formatShellCommand } = await import('./run-argv.ts');
  const command = formatShellCommand(
    buildRunArgv(ctx.globals, name, flags, answers),
    detectShell(ctx.env),
  );
  if (command !== undefined) ctx.io.note(`To repeat it: ${command}`);
}

async function computeSchemaFlagDigest(
  ctx: Context,
  schemaFile: string | undefined,
): Promise<string | undefined> {
  if (schemaFile === undefined) return undefined;
  const { computeSchemaDigest } = await import('../../outputs/output-schema.ts');
  return computeSchemaDigest(schemaFile, ctx.cwd, '--schema');
}

/** Returns true on a terminal whose input has not ended, so that questions can be answered. */
function canAskQuestions(ctx: Context): boolean {
  return ctx.isInteractive && !ctx.io.stdin.stream.readableEnded;
}

async function askForTarget(
  ctx: Context,
  flags: RunFlags,
): Promise<{ name: string; displayName: string; option: readonly string[] }> {
  const { pickRun } = await import('../../inputs/pick-run.ts');
  const { target, displayName, options } = await pickRun(ctx, await ctx.connection(), flags);
  return { name: target, displayName, option: options };
}
