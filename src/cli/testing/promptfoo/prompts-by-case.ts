import type {
  ConvertedCase,
  PromptProgram,
  PromptTemplate,
} from '../../../prompts/foreign/converted-prompt.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { type NunjucksPrompt, renderNunjucks } from './render-nunjucks.ts';
import { runProgramOnInputs } from './run-program.ts';
import type { NamedConfiguration } from './run-test-programs.ts';

/** A prompt that was made for some cases. */
interface CasePrompt {
  readonly prompt: string;
  readonly caseIndices: ReadonlySet<number>;
  /** The index of the model that it was made for, if it is for one model only. */
  readonly model?: number;
  readonly line: number;
  /** The reason that it can't be sent. */
  readonly fault?: string | undefined;
}

/**
 * Runs a program that makes the prompt of each case, for each model if it reads their labels.
 *
 * @throws {CliError} USAGE_ERROR that names the configuration if the program fails
 */
export async function makePromptsByProgram(
  ctx: Context,
  program: PromptProgram,
  cases: readonly ConvertedCase[],
  { file, name }: NamedConfiguration,
): Promise<CasePrompt[]> {
  const { argv, frontMatter, labels, line } = program;
  const id = frontMatter['model'] ?? 'echo';
  const inputsByModel = (labels ?? [id]).map((label, model) =>
    cases.map(({ vars, modelIndices }) => {
      const isAsked = labels === undefined || (modelIndices?.includes(model) ?? true);
      return isAsked ? JSON.stringify({ vars, provider: { id, label }, config: {} }) : undefined;
    }),
  );

  const description = `${name}:${line}: the program of the prompt`;
  const inputs = [...new Set(inputsByModel.flat())].filter(input => input !== undefined);
  const outputs = await runProgramOnInputs(ctx, argv, { file, inputs, description });
  const prompts: CasePrompt[] = [];
  for (const [model, inputsOfModel] of inputsByModel.entries()) {
    const texts = inputsOfModel.map(input =>
      input === undefined ? undefined : { text: outputs.get(input) ?? '' },
    );
    const promptsOfModel = await groupCasesByPrompt(texts, program, name);
    prompts.push(
      ...promptsOfModel.map(prompt => (labels === undefined ? prompt : { ...prompt, model })),
    );
  }

  return prompts;
}

/**
 * Renders the prompt of each case. One that continues a conversation begins it here.
 *
 * @throws {CliError} USAGE_ERROR that names the configuration if the engine can't run Nunjucks
 */
export async function makePromptsByTemplate(
  ctx: Context,
  template: PromptTemplate,
  cases: readonly ConvertedCase[],
  { name }: NamedConfiguration,
): Promise<CasePrompt[]> {
  const templates = cases.map(({ vars, turn }) => ({
    template: template.text,
    vars: { ...vars, ...(turn?.conversationKey && { _conversation: [] }) },
  }));
  const renderedPrompts = await renderNunjucks(ctx, templates).catch((error: unknown) => {
    ctx.signal.throwIfAborted();
    throw usageError(
      `${name}:${template.line}: Nunjucks can't render the prompt: ${getErrorMessage(error)}`,
    );
  });
  const prompts = renderedPrompts.map(({ text, fault }) => ({ text, fault }));
  return await groupCasesByPrompt(prompts, template, name);
}

/** Groups cases with the same text as prompt, in their order, without those that have none. */
async function groupCasesByPrompt(
  texts: readonly (Pick<NunjucksPrompt, 'text' | 'fault'> | undefined)[],
  promptSource: PromptProgram | PromptTemplate,
  name: string,
): Promise<CasePrompt[]> {
  const { convertRenderedPrompt } = await import(
    '../../../prompts/foreign/promptfoo/prompts/prompt-of-text.ts'
  );
  const makePromptFile = await createPromptFileMaker(text =>
    convertRenderedPrompt(text, promptSource, name),
  );

  const prompts: (CasePrompt & { readonly key: string; readonly caseIndices: Set<number> })[] = [];
  for (const [index, promptOfCase] of texts.entries()) {
    if (promptOfCase === undefined) continue;
    const key = JSON.stringify(promptOfCase);
    const last = prompts.at(-1);
    if (last?.key === key) {
      last.caseIndices.add(index);
    } else {
      prompts.push({
        key,
        caseIndices: new Set([index]),
        line: promptSource.line,
        ...makePromptFile(promptOfCase),
      });
    }
  }

  return prompts;
}

/**
 * Returns a function that makes a prompt file of a text. One with a fault has a stand-in, which is
 * never sent.
 */
async function createPromptFileMaker(convertText: (text: string) => string) {
  const { InvalidPromptFileError } = await import('../../../prompts/findings.ts');
  const standIn = convertText('-');
  return ({
    text,
    fault,
  }: Pick<NunjucksPrompt, 'text' | 'fault'>): Pick<CasePrompt, 'prompt' | 'fault'> => {
    if (fault !== undefined) {
      return { prompt: standIn, fault: `Nunjucks can't render its prompt: ${fault}` };
    }
    try {
      return { prompt: convertText(text) };
    } catch (error) {
      if (error instanceof InvalidPromptFileError) return { prompt: standIn, fault: error.problem };
      throw error;
    }
  };
}
