import { messageOf } from '../../../files/error-utils.ts';
import type { ConvertedCase, PromptProgram, PromptTemplate } from '../../../prompts/foreign/converted.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { renderNunjucks } from './nunjucks.ts';
import { programOutput } from './program-output.ts';

/** A prompt that was made for some cases. */
interface MadePrompt {
  /** The text of a prompt file. */
  readonly prompt: string;
  readonly only: ReadonlySet<number>;
}

/** The configuration, and its name in messages. */
interface Place {
  readonly file: string;
  readonly name: string;
}

/**
 * Runs a program that makes the prompt of each case.
 *
 * @throws {CliError} USAGE_ERROR that names the configuration if the program fails
 */
export async function promptsByProgram(
  ctx: Context,
  program: PromptProgram,
  cases: readonly ConvertedCase[],
  { file, name }: Place,
): Promise<MadePrompt[]> {
  const outputs = new Map<string, string>();
  const texts: string[] = [];
  const what = `${name}:${program.line}: the program of the prompt`;
  for (const { vars } of cases) {
    const id = program.head['model'] ?? 'echo';
    const context = JSON.stringify({ vars, provider: { id, label: id }, config: {} });
    const text =
      outputs.get(context) ?? (await programOutput(ctx, program.argv, { file, input: context, what }));
    outputs.set(context, text);
    texts.push(text);
  }
  return await promptsOfTexts(texts, program, name);
}

/**
 * Renders the prompt of each case. One that continues a conversation begins it here.
 *
 * @throws {CliError} USAGE_ERROR that names the configuration if Nunjucks can't render it
 */
export async function promptsByTemplate(
  ctx: Context,
  template: PromptTemplate,
  cases: readonly ConvertedCase[],
  { name }: Place,
): Promise<MadePrompt[]> {
  const all = cases.map(({ vars, turn }) => ({ ...vars, ...(turn?.conversation && { _conversation: [] }) }));
  const rendered = await renderNunjucks(ctx, template.text, all).catch((error: unknown) => {
    ctx.signal.throwIfAborted();
    throw usageError(`${name}:${template.line}: Nunjucks can't render the prompt: ${messageOf(error)}`);
  });
  return await promptsOfTexts(
    rendered.map(({ text }) => text),
    template,
    name,
  );
}

/** Groups cases with the same text as prompt, in their order. */
async function promptsOfTexts(
  texts: readonly string[],
  made: PromptProgram | PromptTemplate,
  name: string,
): Promise<MadePrompt[]> {
  const { promptOfText } = await import('../../../prompts/foreign/promptfoo/convert.ts');
  const prompts: { readonly text: string; readonly prompt: string; readonly only: Set<number> }[] = [];
  for (const [index, text] of texts.entries()) {
    const last = prompts.at(-1);
    if (last?.text === text) last.only.add(index);
    else prompts.push({ text, prompt: promptOfText(text, made, name), only: new Set([index]) });
  }
  return prompts;
}
