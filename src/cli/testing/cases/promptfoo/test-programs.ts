import type { RenderedTemplate, TestProgram } from '../../../../prompts/foreign/converted.ts';
import { errorMessage } from '../../../../utils/error-utils.ts';
import type { Context } from '../../../context.ts';
import { usageError } from '../../../core/errors.ts';
import { renderNunjucks } from './nunjucks.ts';
import { programOutput } from './program-output.ts';
import { transformedVariables } from './transformed-variables.ts';

/** The configuration, and its name in messages. */
interface Place {
  readonly file: string;
  readonly name: string;
}

type CaseTemplate = Extract<TestProgram, RenderedTemplate>;

/**
 * Runs what a conversion needs and has not got yet, and adds the results to `outputs` by name.
 *
 * @throws {CliError} USAGE_ERROR that names the configuration if something fails
 */
export async function runTestPrograms(
  ctx: Context,
  programs: readonly TestProgram[],
  outputs: Record<string, string>,
  place: Place,
): Promise<void> {
  const templates = new Map<string, CaseTemplate>();
  for (const program of programs) {
    if (Object.hasOwn(outputs, program.name)) continue;
    if ('template' in program) templates.set(program.name, program);
    else outputs[program.name] = await runTestProgram(ctx, program, place);
  }
  await renderTemplates(ctx, [...templates.values()], outputs, place);
}

/** Returns what a program prints, or what code makes. */
async function runTestProgram(
  ctx: Context,
  program: Exclude<TestProgram, RenderedTemplate>,
  { file, name }: Place,
): Promise<string> {
  const place = `${name}:${program.line}`;
  if ('code' in program) return await transformedVariables(ctx, program, place);
  const what = `${place}: the program that makes the tests`;
  return await programOutput(ctx, program.argv, { file, input: '', what });
}

async function renderTemplates(
  ctx: Context,
  templates: readonly CaseTemplate[],
  outputs: Record<string, string>,
  { name }: Place,
): Promise<void> {
  if (templates.length === 0) return;
  const renderedPrompts = await renderNunjucks(ctx, templates).catch((error: unknown) => {
    ctx.signal.throwIfAborted();
    throw usageError(`${name}: Nunjucks can't render its values: ${errorMessage(error)}`);
  });
  for (const [index, program] of templates.entries()) {
    outputs[program.name] = JSON.stringify(renderedPrompts[index]);
  }
}
