import type { JsonValue } from '../../../files/formats/json.ts';
import type { RenderedTemplate, TestProgram } from '../../../prompts/foreign/converted-prompt.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { renderNunjucks } from './render-nunjucks.ts';
import { runProgram } from './run-program.ts';

/** A configuration with its name in messages. */
export interface NamedConfiguration {
  /** The absolute path. */
  readonly file: string;
  readonly name: string;
}

type CaseTemplate = Extract<TestProgram, RenderedTemplate>;

/**
 * Runs the programs, code and templates whose results a conversion needs and doesn't have yet, and
 * adds them to `outputs` by name.
 *
 * @throws {CliError} USAGE_ERROR that names the configuration if something fails
 */
export async function runTestPrograms(
  ctx: Context,
  programs: readonly TestProgram[],
  outputs: Record<string, string>,
  configuration: NamedConfiguration,
): Promise<void> {
  const templates = new Map<string, CaseTemplate>();
  for (const program of programs) {
    if (Object.hasOwn(outputs, program.name)) continue;
    if ('template' in program) {
      templates.set(program.name, program);
    } else {
      outputs[program.name] = await runTestProgram(ctx, program, configuration);
    }
  }
  await renderTemplates(ctx, [...templates.values()], outputs, configuration);
}

/** Returns what a program prints, or what code makes. */
async function runTestProgram(
  ctx: Context,
  program: Exclude<TestProgram, RenderedTemplate>,
  { file, name }: NamedConfiguration,
): Promise<string> {
  const place = `${name}:${program.line}`;
  if ('code' in program) return await transformVariables(ctx, program, place);
  const description = `${place}: the program that makes the tests`;
  return await runProgram(ctx, program.argv, { file, input: '', description });
}

/**
 * Runs the code of `transformVars`, and returns its result as JSON.
 *
 * @throws {CliError} USAGE_ERROR at the code if it fails, because promptfoo runs no test then
 */
async function transformVariables(
  ctx: Context,
  { code, input }: { readonly code: string; readonly input: JsonValue },
  place: string,
): Promise<string> {
  const checks = await ctx.checks();
  const context = { vars: {}, prompt: null, test: null };
  const result = await checks.perform(
    'renderTemplates',
    { code, isFile: false },
    { output: input, context },
  );
  if ('fault' in result) throw usageError(`${place}: \`transformVars\`: ${result.fault}`);

  return JSON.stringify(result.value ?? null);
}

async function renderTemplates(
  ctx: Context,
  templates: readonly CaseTemplate[],
  outputs: Record<string, string>,
  { name }: NamedConfiguration,
): Promise<void> {
  if (templates.length === 0) return;
  const renderedPrompts = await renderNunjucks(ctx, templates).catch((error: unknown) => {
    ctx.signal.throwIfAborted();
    throw usageError(`${name}: Nunjucks can't render its values: ${getErrorMessage(error)}`);
  });
  for (const [index, program] of templates.entries()) {
    outputs[program.name] = JSON.stringify(renderedPrompts[index]);
  }
}
