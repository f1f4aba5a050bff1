import type { ConvertedCase, PromptProgram } from '../../../prompts/foreign/converted.ts';
import type { Context } from '../../context.ts';
import { programOutput } from './program-output.ts';

/** A prompt that a program has made, with its cases. */
interface MadePrompt {
  /** The text of a prompt file. */
  readonly prompt: string;
  readonly only: ReadonlySet<number>;
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
  { file, name }: { readonly file: string; readonly name: string },
): Promise<MadePrompt[]> {
  const { promptOfProgram } = await import('../../../prompts/foreign/promptfoo/convert.ts');
  const casesByPrompt = new Map<string, Set<number>>();
  const outputs = new Map<string, string>();
  const what = `${name}:${program.line}: the program of the prompt`;
  for (const [index, { vars }] of cases.entries()) {
    const id = program.head['model'] ?? 'echo';
    const context = JSON.stringify({ vars, provider: { id, label: id }, config: {} });
    const text =
      outputs.get(context) ?? (await programOutput(ctx, program.argv, { file, input: context, what }));
    outputs.set(context, text);
    casesByPrompt.set(text, (casesByPrompt.get(text) ?? new Set<number>()).add(index));
  }
  return [...casesByPrompt].map(([text, only]) => ({ prompt: promptOfProgram(text, program, name), only }));
}
