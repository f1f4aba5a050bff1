import type { Context } from '../context.ts';
import type { OutputFlags } from '../core/shared-flags.ts';
import { usageError } from '../errors.ts';
import { wantsJson } from './json.ts';
import type { RunFacts } from './manifest.ts';
import type { SchemaCheck } from './output-schema.ts';
import type { PresentOptions } from './results.ts';

/**
 * How outputs are to be given, once the facts of their run are known. Settings and the schema are read at once, and
 * the directory is looked at, so that nothing that is wrong with them costs a run.
 *
 * @param flag that names the directory
 * @throws {CliError} USAGE_ERROR for a schema or a directory that can't be used, and for flags that exclude each other
 */
export async function outputPlan(
  ctx: Context,
  flags: OutputFlags,
  flag: '--save' | '--to' = '--save',
): Promise<(facts: RunFacts) => PresentOptions> {
  const bytes = flags.save === '-';
  if (bytes) checkBytesWanted(ctx, flag);
  const chosen = flags.save === true ? (ctx.settings.get('saveDir') ?? '.') : flags.save;
  const directory = bytes ? undefined : chosen;
  if (directory !== undefined) {
    const { checkDirectory } = await import('./writable.ts');
    checkDirectory(ctx.cwd, directory, flag);
  }
  const preview = flags.preview && ctx.io.stdout.isTerminal && (ctx.settings.get('preview') ?? true);
  const force = flags.force === true;
  const schema = await schemaOf(ctx, flags.schema);
  return facts => ({
    preview,
    bytes,
    open: flags.open === true,
    ...(directory !== undefined && { save: { directory, force, facts } }),
    ...(schema !== undefined && { schema }),
  });
}

/** The bytes are all that may stand on standard output, and a terminal would read them as commands. */
function checkBytesWanted(ctx: Context, flag: string): void {
  if (wantsJson(ctx)) {
    throw usageError(`${flag} - and --${ctx.globals.json ? 'json' : 'query'} exclude each other`);
  }
  if (ctx.io.stdout.isTerminal) {
    throw usageError(
      `${flag} - writes bytes, and standard output is a terminal`,
      `Redirect it: … ${flag} - > file`,
    );
  }
}

async function schemaOf(ctx: Context, file: string | undefined): Promise<SchemaCheck | undefined> {
  if (file === undefined) return undefined;
  const { readSchema } = await import('./output-schema.ts');
  return readSchema(ctx, file, '--schema');
}
