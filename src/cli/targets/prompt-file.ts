import { type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { errorCode, errorMessage } from '../../files/error-utils.ts';
import type { JsonObject } from '../../files/json.ts';
import type { InvalidPromptFile } from '../../prompts/findings.ts';
import type { LocalStore } from '../../service/local-store.ts';
import type { Connection, Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { detectShell, shellWord } from '../terminal/command-line.ts';
import { oneLine } from '../terminal/sanitise.ts';
import { type NamedPromptFile, REVISION_MARK } from './named-prompt-file.ts';

/** Returns the target of an alias; any other name is returned unchanged. @throws {CliError} for an empty name */
export function aliasOrName(ctx: Context, target: string): string {
  const name = ctx.settings.aliases.get(target) ?? target;
  if (name.trim() !== '') return name;
  throw usageError('the target is empty', 'Give an alias, a prompt file, an id or a slug.');
}

/** Matches characters of file names that no slug has. */
const FILE_CHARACTERS = /[./\\]/u;

/** The origin of a target. Only the user may name a revision, because git reads the configuration of the file's folder. */
export type TargetSource = 'command line' | 'elsewhere';

/**
 * Returns the prompt file that a target names: an existing file, or `file@git:<revision>`. Its reader refuses files of
 * unknown forms.
 *
 * @throws {CliError} USAGE_ERROR for a revision that does not come from the command line
 */
export function findPromptFile(
  ctx: Context,
  target: string,
  source: TargetSource,
): NamedPromptFile | undefined {
  const file = fileOrRevision(ctx, target);
  if (file?.revision === undefined || source === 'command line') return file;
  throw usageError(
    `${file.name} names a git revision, which only the command line may name`,
    'Name the file itself.',
  );
}

function fileOrRevision(ctx: Context, target: string): NamedPromptFile | undefined {
  const name = aliasOrName(ctx, target);
  const at = name.lastIndexOf(REVISION_MARK);
  const file = at < 0 ? name : name.slice(0, at);
  if (!FILE_CHARACTERS.test(file)) return undefined;
  const absolute = path.resolve(ctx.cwd, file);
  if (at >= 0) return { name, path: absolute, revision: name.slice(at + REVISION_MARK.length) };
  return isRegularFile(absolute, name) ? { name, path: absolute, revision: undefined } : undefined;
}

/** Returns true for a file, false for nothing. @throws {CliError} USAGE_ERROR for anything else */
function isRegularFile(file: string, name: string): boolean {
  let stats: Stats | undefined;
  try {
    stats = statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (['ENAMETOOLONG', 'ENOTDIR'].includes(errorCode(error) ?? '')) return false;
    throw usageError(`${name} can't be read: ${errorMessage(error)}`);
  }
  if (stats === undefined || stats.isFile()) return stats !== undefined;
  throw usageError(`${name} is ${irregularKind(stats)}, not a prompt file`);
}

function irregularKind(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  return stats.isFIFO() ? 'a named pipe' : 'a device';
}

/** Returns the service that runs a target. A prompt file always runs on this machine. */
export function connectionFor(ctx: Context, target: string): Promise<Connection> {
  return fileOrRevision(ctx, target) === undefined ? ctx.connection() : ctx.localConnection();
}

/**
 * Opens the store of the embedded service, and closes it after `use`.
 *
 * @param onNotice called with each fault of models.yaml; the embedded service reports them itself
 */
export async function withLocalStore<T>(
  ctx: Context,
  use: (store: LocalStore) => Promise<T>,
  onNotice: (line: string) => void = () => {},
): Promise<T> {
  const { dataDir, modelsFile, declaredModels } = ctx;
  try {
    const tasks = await ctx.promptTasks();
    return await ctx.local.withStore({ dataDir, modelsFile, declaredModels, onNotice, tasks }, use);
  } catch (error) {
    throw asTyped(ctx, error);
  }
}

/** Converts an error of the store. A prompt file's first fault gets its relative path and a hint to see the others. */
export function asTyped(ctx: Context, error: unknown): unknown {
  if (errorCode(error) !== 'INVALID_PROMPT_FILE') return error;
  const { file, line, what, findings } = error as InvalidPromptFile;
  const shown = shownPath(ctx, file);
  const faults = findings.filter(({ severity }) => severity === 'fault').length;
  const isPartial = path.basename(file).startsWith('_');
  const hints =
    faults > 1 && !isPartial
      ? [
          `${faults === 2 ? 'Both' : `All ${faults}`} faults: promptrun prompts check ${shellWord(shown, detectShell(ctx.env))}`,
        ]
      : [];
  return usageError(`${shown}:${line}: ${what}`, ...hints);
}

/** Returns a file's path, relative if it is below the working directory. */
export function shownPath({ cwd }: Context, file: string): string {
  const relative = path.relative(cwd, path.resolve(cwd, file));
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

/** Says how to use the provider whose key is set, since it may have been expected to answer. */
async function noteUsableProvider({ env, io }: Context): Promise<void> {
  const { knownProviders, keyVariable } = await import('../../models/providers/providers.ts');
  const usable = knownProviders(env).find(provider => keyVariable(provider, env) !== undefined);
  if (usable === undefined) return;
  const model = `${usable.name}/<model>`;
  io.noteOnce(
    `note: ${keyVariable(usable, env)} is set: name a model with -m ${model}, or for all files: promptrun config set model ${model}`,
  );
}

/** The model and config that replace those of a prompt. */
export interface VersionOverrides {
  readonly model?: string | undefined;
  readonly config?: JsonObject | undefined;
}

/** Returns an unlisted version of a prompt file, which can be run and read by its id. */
export async function versionOfFile(
  ctx: Context,
  file: NamedPromptFile,
  { model, config }: VersionOverrides = {},
): Promise<{ readonly promptId: string; readonly promptVersionId: string; readonly config: unknown }> {
  const { withPromptFile } = await import('./git/revision.ts');
  return withPromptFile(ctx, file, content =>
    withLocalStore(ctx, async store => {
      const { allowOutside } = ctx.globals;
      const defaultModel = ctx.settings.get('model');
      const named = { ...(model !== undefined && { model }), config };
      const request = { file: content, allowOutside, defaultModel, ...named };
      const { promptId, promptVersionId, notes = [] } = await store.ensureUnlistedVersion(request);
      for (const { file, line, message } of notes) {
        ctx.io.noteOnce(`note: ${oneLine(shownPath(ctx, file))}:${line}: ${oneLine(message)}`);
      }
      const [{ promptConfig }, { lacksOpeningFence, missingFenceNote }] = await Promise.all([
        import('../../prompts/definition.ts'),
        import('../../prompts/parse/prompt-source.ts'),
      ]);
      const definition = await store.definition(promptVersionId);
      if ((model ?? defaultModel) === undefined && definition?.namesModel === false) {
        ctx.io.noteOnce('note: no model named: echo gives the prompt back');
        await noteUsableProvider(ctx);
      }
      if (definition && lacksOpeningFence(definition.source)) {
        ctx.io.note(missingFenceNote(oneLine(file.name)));
      }
      return { promptId, promptVersionId, config: definition && promptConfig(definition) };
    }),
  );
}
