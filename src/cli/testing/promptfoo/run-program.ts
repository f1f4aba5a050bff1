import path from 'node:path';
import { OutputBeginning } from '../../../processes/output-beginning.ts';
import { ProcessTree } from '../../../processes/process-tree.ts';
import { withoutKeys } from '../../../processes/program-environment.ts';
import { resolveWhenAborted, withTimeout } from '../../../utils/abort-signals.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { MAX_TEST_FILE_BYTES } from '../cases/test-case.ts';

/** Maximum time for which a program prints nothing, in milliseconds. */
const SILENCE_LIMIT_MS = 30_000;

/** Maximum length of the error output in a message, in characters. */
const MAX_SHOWN_ERROR_LENGTH = 2000;

/** The variable that marks the program's processes, so that they can be found and ended. */
const PROGRAM_VARIABLE = 'PROMPTRUN_CASE';

/** A program, as its configuration names it. */
interface NamedProgram {
  /** The absolute path of the configuration that names it. */
  readonly file: string;
  /** The program in messages, with its position in the configuration. */
  readonly description: string;
}

/**
 * Runs a program that a configuration names, and returns its output.
 *
 * @param options standard input, and the maximum length of the output
 * @throws {CliError} USAGE_ERROR if the program fails, prints more, or prints nothing for too long
 */
export async function runProgram(
  ctx: Context,
  argv: readonly [string, ...string[]],
  {
    file,
    input,
    description,
    maxLength = MAX_TEST_FILE_BYTES,
  }: NamedProgram & { readonly input: string; readonly maxLength?: number },
): Promise<string> {
  const { collectKeyVariables } = await import('../../../models/catalogue/provider-keys.ts');
  const env = withoutKeys(ctx.env, await collectKeyVariables(ctx));
  const createError = (reason: string): CliError => usageError(`${description} ${reason}`);

  let tree: ProcessTree | undefined;
  try {
    tree = new ProcessTree(
      { argv, directory: path.dirname(file), env: { ...env, [PROGRAM_VARIABLE]: file } },
      PROGRAM_VARIABLE,
    );
    const { child, whenEnded, whenClosed } = tree;
    const output = new OutputBeginning([child.stdout], maxLength);
    const errorOutput = new OutputBeginning([child.stderr], MAX_SHOWN_ERROR_LENGTH);
    child.stdin.end(input);
    const end = await awaitProgramEnd(whenEnded, output, ctx.signal);
    if (end === undefined) throw createError(`took more than ${SILENCE_LIMIT_MS / 1000} s`);

    await tree.end();
    await whenClosed;
    if (end.code !== 0) throw createError(`ended with ${end.code}: ${errorOutput.text.trim()}`);
    if (output.isCut) {
      throw createError(`printed more than ${Math.floor(maxLength / 1024 / 1024)} MiB`);
    }

    return output.text;
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof CliError) throw error;
    throw createError(`can't be started with ${argv[0]}: ${getErrorMessage(error)}`);
  } finally {
    await tree?.end();
  }
}

/**
 * Runs a program once with all inputs, and returns the text that it prints for each, as a line of
 * JSON: starting a process takes far longer than most prompts.
 *
 * @param options `inputs` are texts of JSON, each different
 * @throws {CliError} USAGE_ERROR like `runProgram`
 */
export async function runProgramOnInputs(
  ctx: Context,
  argv: readonly [string, ...string[]],
  { inputs, ...program }: NamedProgram & { readonly inputs: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const maxLength = inputs.length * MAX_TEST_FILE_BYTES;
  const output = await runProgram(ctx, argv, {
    ...program,
    input: `[${inputs.join(',')}]`,
    maxLength,
  });
  const lines = output.split('\n');
  if (lines.length !== inputs.length + 1) throw usageError(`${program.description} ended early`);

  return new Map(inputs.map((input, index) => [input, String(JSON.parse(lines[index] ?? ''))]));
}

/** Returns the end of a program; undefined if it takes too long without printing anything. */
async function awaitProgramEnd<T>(
  programEnd: Promise<T>,
  output: OutputBeginning,
  signal: AbortSignal,
): Promise<T | undefined> {
  let end: T | undefined;
  let lengthBefore: number;
  do {
    lengthBefore = output.text.length;
    end = await withTimeout(SILENCE_LIMIT_MS, signal, limitSignal =>
      resolveWhenAborted(programEnd, limitSignal),
    );
    signal.throwIfAborted();
  } while (end === undefined && output.text.length > lengthBefore);
  return end;
}
