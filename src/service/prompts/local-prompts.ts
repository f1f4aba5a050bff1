import path from 'node:path';
import { knownModels } from '../../models/catalogue/known-models.ts';
import type { ModelTable } from '../../models/catalogue/table.ts';
import { checkPrompt } from '../../prompts/check/check.ts';
import { type PromptDefinition, promptConfig } from '../../prompts/definition.ts';
import { type Finding, InvalidPromptFile } from '../../prompts/findings.ts';
import { readPromptText } from '../../prompts/parse/files.ts';
import { type PreviewInputs, previewPrompt } from '../../prompts/render/preview.ts';
import { readTextInputs } from '../../prompts/render/typed-inputs.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import { readPromptFile } from '../../prompts/tasks/read-prompt.ts';
import type { Store } from '../store/store.ts';
import { createDefinitions } from './definitions.ts';

/** A prompt file, or a version in the local store. */
export type LocalPromptTarget =
  | {
      readonly file: string;
      /** Whether its partials may lie outside its folder; default false. */
      readonly allowOutside?: boolean | undefined;
    }
  | { readonly promptVersionId: string };

interface RenderInputs extends PreviewInputs {
  /** Inputs given as text, which the prompt's schema gives their types, as in a run; they win over `inputs`. */
  readonly texts?: Readonly<Record<string, string>>;
}

interface CheckFileOptions {
  readonly allowOutside?: boolean | undefined;
  /** Whether a model that this machine does not have is a fault; default a note. */
  readonly needsModel?: boolean | undefined;
}

/** What is done with prompts on this machine without a run. Of a version that is not there they give undefined. */
export function localPrompts(store: Store, models: () => Promise<ModelTable>, tasks: PromptTasks) {
  const definitions = createDefinitions(store, tasks);
  const definitionOf = async (target: LocalPromptTarget): Promise<PromptDefinition | undefined> => {
    if ('file' in target) {
      return await readPromptFile(target.file, { tasks, allowOutside: target.allowOutside });
    }
    const version = await store.prompts.version(target.promptVersionId.toLowerCase());
    return version && (await definitions.of(version));
  };
  return {
    /** Every fault and every note of a prompt file. Rejects with what the file system says. */
    check: async (file: string, options: CheckFileOptions = {}) =>
      await checkFile(file, await models(), tasks, options),
    /**
     * What a model would be sent; fetches nothing.
     *
     * @throws {InvalidPromptFile} whose message names file and line
     * @throws {InvalidInputs} that names every input that is missing
     * @throws {PastBound} where the prompt takes too much
     */
    async render(target: LocalPromptTarget, values: RenderInputs) {
      const definition = await definitionOf(target);
      return definition && previewPrompt(definition, await withTexts(definition, values));
    },
    async config(target: LocalPromptTarget) {
      const definition = await definitionOf(target);
      return definition && promptConfig(definition);
    },
    /** What a version was published as: the whole file, what stands below its front matter, its partials by name. */
    async text(target: LocalPromptTarget) {
      const definition = await definitionOf(target);
      if (!definition) return undefined;
      const { source, template, partials } = definition;
      return { source, template, partials };
    },
  };
}

async function withTexts(
  definition: PromptDefinition,
  { texts = {}, ...values }: RenderInputs,
): Promise<PreviewInputs> {
  const { input } = definition;
  const textInputs = definition.textInputs.filter(({ key }) => Object.hasOwn(texts, key));
  const typed = await readTextInputs({ input, textInputs }, texts);
  return { ...values, inputs: { ...values.inputs, ...texts, ...typed } };
}

async function checkFile(
  file: string,
  models: ModelTable,
  tasks: PromptTasks,
  { allowOutside, needsModel = false }: CheckFileOptions,
): Promise<Finding[]> {
  try {
    const options = { models: knownModels(models), tasks, allowOutside, mayLackModel: !needsModel };
    return await checkPrompt(await readPromptText(file), file, options);
  } catch (error) {
    if (!(error instanceof InvalidPromptFile)) throw error;
    const { line, what } = error;
    return [{ severity: 'fault', file: path.normalize(error.file), line, column: 1, message: what }];
  }
}
