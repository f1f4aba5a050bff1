import { messageOf } from '../../../files/error-utils.ts';
import type { ConvertedCase, PromptProgram, PromptTemplate } from '../../../prompts/foreign/converted.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { type RenderedPrompt, renderNunjucks } from './nunjucks.ts';
import { programOutput } from './program-output.ts';

/** A prompt that was made for some cases. */
interface MadePrompt {
  /** The text of a prompt file. */
  readonly prompt: string;
  readonly only: ReadonlySet<number>;
  /** The reason that Nunjucks can't render it. */
  readonly fault?: string | undefined;
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
  return await promptsOfTexts(
    texts.map(text => ({ text })),
    program,
    name,
  );
}

/**
 * Renders the prompt of each case. One that continues a conversation begins it here.
 *
 * @throws {CliError} USAGE_ERROR that names the configuration if Nunjucks can't render it for any case
 */
export async function promptsByTemplate(
  ctx: Context,
  template: PromptTemplate,
  cases: readonly ConvertedCase[],
  { name }: Place,
): Promise<MadePrompt[]> {
  const all = cases.map(({ vars, turn }) => ({ ...vars, ...(turn?.conversation && { _conversation: [] }) }));
  const refuse = (what: string) =>
    usageError(`${name}:${template.line}: Nunjucks can't render the prompt: ${what}`);
  const rendered = await renderNunjucks(ctx, template.text, all).catch((error: unknown) => {
    ctx.signal.throwIfAborted();
    throw refuse(messageOf(error));
  });
  const [first] = rendered;
  if (first?.fault !== undefined && rendered.every(({ fault }) => fault !== undefined))
    throw refuse(first.fault);
  return await promptsOfTexts(rendered, template, name);
}

/** Groups cases with the same text as prompt, in their order. */
async function promptsOfTexts(
  texts: readonly Pick<RenderedPrompt, 'text' | 'fault'>[],
  made: PromptProgram | PromptTemplate,
  name: string,
): Promise<MadePrompt[]> {
  const { promptOfText } = await import('../../../prompts/foreign/promptfoo/convert.ts');
  const prompts: (MadePrompt & { readonly text: string; readonly only: Set<number> })[] = [];
  for (const [index, { text, fault }] of texts.entries()) {
    const last = prompts.at(-1);
    if (last?.text === text && last.fault === fault) last.only.add(index);
    else prompts.push({ text, fault, prompt: promptOfText(text, made, name), only: new Set([index]) });
  }
  return prompts;
}
