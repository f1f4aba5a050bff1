import type { JsonObject } from '../../files/formats/json.ts';
import type { Context } from '../context.ts';
import { shownPath } from '../core/paths.ts';
import { oneLine } from '../terminal/sanitise.ts';
import { withLocalStore } from './embedded-store.ts';
import type { NamedPromptFile } from './prompt-file.ts';

/** Shows how to use the provider whose key is set, because the user may have expected its answer. */
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
