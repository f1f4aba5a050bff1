import type { Connection, Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { checkInputs } from '../../inputs/check.ts';
import { openImages } from '../../inputs/images/open-image.ts';
import { connectionFor, promptFileOf } from '../../inputs/prompt-file.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import { checkOptions, parseOptions } from '../../inputs/run-options.ts';
import { describeConfig } from '../../inputs/schema/describe.ts';
import { type ResolvedTarget, resolveTarget } from '../../inputs/target.ts';
import { type CollectedInputs, collectInputs } from '../../inputs/text-inputs.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import type { askForTheRest } from './ask-for-the-rest.ts';
import type { RunFlags } from './run-argv.ts';

/** A run that has been checked as far as it can be without sending it. */
export interface PreparedRun {
  readonly connection: Connection;
  readonly request: RunRequest;
  /** Whether the version's id may turn out to be a prompt's. */
  readonly mayBePrompt: boolean;
  /** What the service's search says that a run is expected to take. */
  readonly estimatedCredits?: unknown;
}

/** Reads, asks for and checks everything a run needs. A version given by its id costs no request. */
export async function prepareRun(
  ctx: Context,
  target: string | undefined,
  flags: RunFlags,
): Promise<PreparedRun> {
  if (target === undefined && !ctx.interactive) throw missingTarget();
  if (flags.ask === true && !ctx.interactive) throw noQuestions();
  if (flags.model !== undefined && (target === undefined || promptFileOf(ctx, target) === undefined)) {
    requireLocalService(ctx, '--model');
  }
  parseOptions(flags.option); // refuses a malformed one before anything is read or asked
  const given = await collectInputs(ctx, {
    inputs: flags.input,
    images: flags.image,
    ...(flags.inputs !== undefined && { inputsFile: flags.inputs }),
  });
  const images = await openImages(ctx, given.images);
  const connection = target === undefined ? await ctx.connection() : await connectionFor(ctx, target);
  const { name, shownAs, option } =
    target === undefined
      ? await pick(ctx, connection, flags)
      : { name: target, shownAs: target, option: flags.option };
  const options = parseOptions(option);
  const found = await resolveTarget(ctx, connection, name, flags.model);
  if (flags.validate) await checkOptions(connection, options, ctx.signal);
  const { resolved, inputs } = mayAsk(ctx)
    ? await ask(
        ctx,
        connection,
        { name: shownAs, resolved: found },
        { target, given, flags: { ...flags, option } },
      )
    : checkKnown(connection, found, given);
  const asked = await openImages(ctx, inputs.images.slice(images.length));
  const { promptVersionId, mayBePrompt } = resolved;
  const schema = connection.recorder && (await schemaOf(ctx, flags.schema));
  const request = {
    promptVersionId,
    text: inputs.text,
    images: [...images, ...asked],
    options,
    ...(schema !== undefined && { schema }),
  };
  return { connection, request, mayBePrompt, estimatedCredits: found.estimatedCredits };
}

async function schemaOf(ctx: Context, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const { schemaDigest } = await import('../../outputs/output-schema.ts');
  return schemaDigest(file, ctx.cwd, '--schema');
}

/** Checks against a config that was read before; reads none. */
function checkKnown(
  connection: Connection,
  resolved: ResolvedTarget,
  inputs: CollectedInputs,
): { resolved: ResolvedTarget; inputs: CollectedInputs } {
  const kept = connection.prompts.get(resolved.promptVersionId);
  if (kept !== undefined) {
    checkInputs(describeConfig(kept.config), { text: inputs.text, images: inputs.images.length });
  }
  return { resolved, inputs };
}

/** Not on a terminal whose input has been read to its end: nobody could answer. */
function mayAsk(ctx: Context): boolean {
  return ctx.interactive && !ctx.io.stdin.stream.readableEnded;
}

const ask: typeof askForTheRest = async (...all) =>
  (await import('./ask-for-the-rest.ts')).askForTheRest(...all);

async function pick(
  ctx: Context,
  connection: Connection,
  flags: RunFlags,
): Promise<{ name: string; shownAs: string; option: readonly string[] }> {
  const { pickRun } = await import('../../inputs/pick-run.ts');
  const { target, shownAs, options } = await pickRun(ctx, connection, flags);
  return { name: target, shownAs, option: options };
}

function noQuestions(): Error {
  return usageError('--ask needs a terminal to ask on, without --no-input and CI');
}

function missingTarget(): Error {
  return usageError(
    'no target is given',
    'Name what to run: an alias, a prompt file, an id or a slug. See: promptrun run --help',
  );
}
