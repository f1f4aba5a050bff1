import type { JsonObject } from '../../files/formats/json.ts';
import type { Finding } from '../../prompts/findings.ts';
import type { Context } from '../context.ts';
import { formatPath } from '../core/paths.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { withLocalStore } from './embedded-store.ts';
import type { NamedPromptFile } from './prompt-file.ts';

/** The model and config that replace those of a prompt. */
export interface VersionOverrides {
  readonly model?: string | undefined;
  readonly config?: JsonObject | undefined;
}

interface FileVersion {
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly config: unknown;
}

/**
 * Makes sure that the local store has an unlisted version of a prompt file, which can be run and
 * read by its id.
 */
export async function ensureFileVersion(
  ctx: Context,
  file: NamedPromptFile,
  { model, config }: VersionOverrides = {},
): Promise<FileVersion> {
  const { withPromptFile } = await import('./git/revision.ts');
  return withPromptFile(ctx, file, content =>
    withLocalStore(ctx, async store => {
      const { allowOutside } = ctx.globals;
      const defaultModel = ctx.settings.get('model');
      const { promptId, promptVersionId, notes } = await store.ensureUnlistedVersion({
        file: content,
        allowOutside,
        defaultModel,
        config,
        ...(model !== undefined && { model }),
      });
      noteFindings(ctx, notes);

      const definition = await store.findDefinition(promptVersionId);
      if (definition === undefined) return { promptId, promptVersionId, config: undefined };

      if ((model ?? defaultModel) === undefined && !definition.namesModel) await noteEcho(ctx);
      await noteIfFenceIsMissing(ctx, file.name, definition.source);
      const { toPromptConfig } = await import('../../prompts/definition.ts');
      return { promptId, promptVersionId, config: toPromptConfig(definition) };
    }),
  );
}

function noteFindings(ctx: Context, notes: readonly Finding[] = []): void {
  for (const { file, line, message } of notes) {
    ctx.io.noteOnce(`note: ${toOneLine(formatPath(ctx, file))}:${line}: ${toOneLine(message)}`);
  }
}

/** Notes that echo answers if nothing names a model, whatever keys are set. */
async function noteEcho(ctx: Context): Promise<void> {
  ctx.io.noteOnce('note: no model named: echo gives the prompt back');
  await noteUsableProvider(ctx);
}

/**
 * Notes how to use a provider whose key is set, because the user may have expected its answer.
 */
async function noteUsableProvider({ env, io }: Context): Promise<void> {
  const { listKnownProviders, findKeyVariable } = await import(
    '../../models/providers/providers.ts'
  );
  const usableProvider = listKnownProviders(env).find(
    provider => findKeyVariable(provider, env) !== undefined,
  );
  if (usableProvider === undefined) return;

  const model = `${usableProvider.name}/<model>`;
  io.noteOnce(
    `note: ${findKeyVariable(usableProvider, env)} is set: name a model with -m ${model}, or for all files: promptrun config set model ${model}`,
  );
}

/** Notes that a file lacks the line before its front matter. */
export async function noteIfFenceIsMissing(
  { io }: Context,
  name: string,
  source: string,
): Promise<void> {
  const { lacksOpeningFence, describeMissingFence } = await import(
    '../../prompts/parse/prompt-source.ts'
  );
  if (lacksOpeningFence(source)) io.note(describeMissingFence(toOneLine(name)));
}
