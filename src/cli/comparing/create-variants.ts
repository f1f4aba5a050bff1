import type { Connection, Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { checkModelAccess } from '../creation/creation-result.ts';
import { readVersion, resolveTarget } from '../targets/resolve-target.ts';

/** One side of a comparison: a version and its model. */
export interface Variant {
  /** The name on the command line, such as `haiku.prompt [llama]`. */
  readonly name: string;
  /** The connection to the service that runs it. */
  readonly connection: Connection;
  readonly promptVersionId: string;
  /** The model to use instead of the prompt's own; undefined keeps the prompt's. */
  readonly model: string | undefined;
  /** The estimate that the service lists with the prompt, unchecked. */
  readonly estimatedCredits: unknown;
  /** The version's config. */
  readonly config: unknown;
}

/**
 * Returns a variant for each target with each model, or for each target if no model is named.
 *
 * @throws {CliError} USAGE_ERROR if there are fewer than two
 */
export async function createVariants(
  ctx: Context,
  openConnection: (target: string) => Promise<Connection>,
  targets: readonly string[],
  models: readonly string[],
): Promise<Variant[]> {
  const requestedVariants = targets.flatMap(target =>
    (models.length === 0 ? [undefined] : models).map(model => ({ target, model })),
  );
  if (requestedVariants.length < 2) {
    throw usageError(
      'a comparison needs two sides',
      'Name another target, file@git:<revision>, or models with -m a,b.',
    );
  }

  const variants: Variant[] = [];
  for (const { target, model } of requestedVariants) {
    const connection = await openConnection(target);
    const resolvedTarget = await resolveTarget(ctx, connection, target, {
      source: 'command line',
      model,
    });
    const { promptVersionId, config } = await readVersion(ctx, connection, resolvedTarget);
    await checkModelAccess(connection, promptVersionId);
    const name = model === undefined ? target : `${target} [${model}]`;
    const { estimatedCredits } = resolvedTarget;
    variants.push({ name, connection, promptVersionId, model, estimatedCredits, config });
  }

  return variants;
}
