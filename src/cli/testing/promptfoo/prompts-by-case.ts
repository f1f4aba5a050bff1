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
  readonly promptText: string;
  readonly caseIndices: ReadonlySet<number>;
  /** The index of the model that it was made for, if it is for one model only. */
  readonly modelIndex?: number;
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
  const inputsByModel = (labels ?? [id]).map((label, modelIndex) =>
    cases.map(({ vars, modelIndices }) => {
      const isNeeded = labels === undefined || (modelIndices?.includes(modelIndex) ?? true);
      return isNeeded ? JSON.stringify({ vars, provider: { id, label }, config: {} }) : undefined;
    }),
  );

  const description = `${name}:${line}: the program of the prompt`;
  const inputs = [...new Set(inputsByModel.flat())].filter(input => input !== undefined);
  const outputs = await runProgramOnInputs(ctx, argv, { file, inputs, description });
  const prompts: CasePrompt[] = [];
  for (const [modelIndex, inputsOfModel] of inputsByModel.entries()) {
    const texts = inputsOfModel.map(input =>
      input === undefined ? undefined : { text: outputs.get(input) ?? '' },
    );
    const promptsOfModel = await groupCasesByPrompt(texts, program, name);
    prompts.push(
      ...promptsOfModel.map(prompt => (labels === undefined ? prompt : { ...prompt, modelIndex })),
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
  // Without the variables: cases with the same text share a prompt.
  const texts = renderedPrompts.map(({ text, fault }) => ({ text, fault }));
  return await groupCasesByPrompt(texts, template, name);
}

/**
 * Groups neighbouring cases whose prompts have the same text. Leaves out cases without a prompt, for
 * which `texts` has undefined.
 */
async function groupCasesByPrompt(
  texts: readonly (Pick<NunjucksPrompt, 'text' | 'fault'> | undefined)[],
  promptSource: PromptProgram | PromptTemplate,
  name: string,
): Promise<CasePrompt[]> {
  const { convertRenderedPrompt } = await import(
    '../../../prompts/foreign/promptfoo/prompts/prompt-of-text.ts'
  );
  const createPromptFile = await loadPromptFileCreator(text =>
    convertRenderedPrompt(text, promptSource, name),
  );

  const prompts: (CasePrompt & { readonly key: string; readonly caseIndices: Set<number> })[] = [];
  for (const [index, caseText] of texts.entries()) {
    if (caseText === undefined) continue;
    const key = JSON.stringify(caseText);
    const lastPrompt = prompts.at(-1);
    if (lastPrompt?.key === key) {
      lastPrompt.caseIndices.add(index);
    } else {
      prompts.push({
        key,
        caseIndices: new Set([index]),
        line: promptSource.line,
        ...createPromptFile(caseText),
      });
    }
  }

  return prompts;
}

/**
 * Returns a function that creates the text of a prompt file. For a prompt with a fault, that is a
 * placeholder, which is never sent.
 */
async function loadPromptFileCreator(convertText: (text: string) => string) {
  const { InvalidPromptFileError } = await import('../../../prompts/findings.ts');
  const placeholder = convertText('-');
  return ({
    text,
    fault,
  }: Pick<NunjucksPrompt, 'text' | 'fault'>): Pick<CasePrompt, 'promptText' | 'fault'> => {
    if (fault !== undefined) {
      return { promptText: placeholder, fault: `Nunjucks can't render its prompt: ${fault}` };
    }
    try {
      return { promptText: convertText(text) };
    } catch (error) {
      if (error instanceof InvalidPromptFileError) {
        return { promptText: placeholder, fault: error.problem };
      }
      throw error;
    }
  };
}
