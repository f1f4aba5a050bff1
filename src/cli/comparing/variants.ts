import type { Connection, Context } from '../context.ts';
import { checkModelAccess } from '../creation/creation.ts';
import { usageError } from '../errors.ts';
import { readVersion, resolveTarget } from '../targets/target.ts';

/** One side of a comparison: a version, with the model it is run with. */
export interface Variant {
  /** As the command line names it, such as `haiku.prompt [llama]`. */
  readonly name: string;
  /** To the service that runs it. */
  readonly connection: Connection;
  readonly promptVersionId: string;
  /** In place of the prompt's own; undefined where that is used. */
  readonly model: string | undefined;
  /** What the service's search says that a run is expected to take. */
  readonly estimatedCredits: unknown;
  /** What the version's config says of its inputs. */
  readonly config: unknown;
}

/**
 * The variants that targets and models make: every target with every model. `file@git:<revision>` is the prompt file,
 * with its partials, as it was then.
 *
 * @throws {CliError} USAGE_ERROR for fewer than two
 */
export async function variantsOf(
  ctx: Context,
  connectionOf: (target: string) => Promise<Connection>,
  targets: readonly string[],
  models: readonly string[],
): Promise<Variant[]> {
  const wanted = targets.flatMap(target =>
    (models.length === 0 ? [undefined] : models).map(model => ({ target, model })),
  );
  if (wanted.length < 2) {
    throw usageError(
      'a comparison needs two sides',
      'Name another target, file@git:<revision>, or models with -m a,b.',
    );
  }
  const variants: Variant[] = [];
  for (const { target, model } of wanted) {
    const connection = await connectionOf(target);
    const resolved = await resolveTarget(ctx, connection, target, { source: 'command line', model });
    const { promptVersionId, config } = await readVersion(ctx, connection, resolved);
    await checkModelAccess(connection, promptVersionId);
    const name = model === undefined ? target : `${target} [${model}]`;
    const { estimatedCredits } = resolved;
    variants.push({ name, connection, promptVersionId, model, estimatedCredits, config });
  }
  return variants;
}
