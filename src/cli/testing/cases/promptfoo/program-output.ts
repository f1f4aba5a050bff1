import path from 'node:path';
import type { Readable } from 'node:stream';
import { ProcessTree } from '../../../../processes/process-tree.ts';
import { environmentWithoutKeys } from '../../../../processes/program-environment.ts';
import { resultBeforeAbort, within } from '../../../../utils/abort-signals.ts';
import { errorMessage } from '../../../../utils/error-utils.ts';
import type { Context } from '../../../context.ts';
import { usageError } from '../../../core/errors.ts';
import { MAX_TEST_FILE_BYTES } from '../test-case.ts';

const CASE_PROGRAM_LIMIT_MS = 30_000;
const MAX_SHOWN_FAULTS = 2000;
/** Marks the program's processes, so that they can be ended. */
const CASE_PROGRAM_MARK = 'PROMPTRUN_CASE';

/** A program in messages, with its position, and the configuration that names it. */
interface NamedProgram {
  readonly file: string;
  readonly what: string;
}

/**
 * Returns the text that a program prints for each input, as a line of JSON each. One process gets them all, since starting one
 * takes far longer than most prompts.
 *
 * @param options `inputs` are texts of JSON, each different
 * @throws {CliError} USAGE_ERROR like `programOutput`
 */
export async function programTexts(
  ctx: Context,
  argv: readonly [string, ...string[]],
  { inputs, ...program }: NamedProgram & { readonly inputs: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const maximum = inputs.length * MAX_TEST_FILE_BYTES;
  const printed = await programOutput(ctx, argv, { ...program, input: `[${inputs.join(',')}]`, maximum });
  const lines = printed.split('\n');
  if (lines.length !== inputs.length + 1) {
    throw usageError(`${program.what} ended early, or printed too much`);
  }
  return new Map(inputs.map((input, index) => [input, String(JSON.parse(lines[index] ?? ''))]));
}

/**
 * Returns the output of a program that a configuration names.
 *
 * @param options standard input, and the maximum length of the output
 * @throws {CliError} USAGE_ERROR if the program fails, or prints nothing for too long
 */
export async function programOutput(
  ctx: Context,
  argv: readonly [string, ...string[]],
  {
    file,
    input,
    what,
    maximum = MAX_TEST_FILE_BYTES,
  }: NamedProgram & {
    readonly input: string;
    readonly maximum?: number;
  },
): Promise<string> {
  const { keyVariables } = await import('../../../../models/catalogue/provider-keys.ts');
  const env = environmentWithoutKeys(ctx.env, await keyVariables(ctx));
  const refuse = (why: string) => usageError(`${what} ${why}`);
  let tree: ProcessTree | undefined;
  try {
    tree = new ProcessTree(
      { argv, directory: path.dirname(file), env: { ...env, [CASE_PROGRAM_MARK]: file } },
      CASE_PROGRAM_MARK,
    );
    const { child, ended } = tree;
    const [printed, faults] = [new Beginning(child.stdout, maximum), new Beginning(child.stderr, maximum)];
    child.stdin.end(input);
    const end = await awaitProgramEnd(ended, printed, ctx.signal);
    if (end === undefined) throw refuse(`took more than ${CASE_PROGRAM_LIMIT_MS / 1000} s`);
    await tree.end();
    if (end.code !== 0) {
      throw refuse(`ended with ${end.code}: ${(await faults.read()).slice(0, MAX_SHOWN_FAULTS).trim()}`);
    }
    return await printed.read();
  } catch (error) {
    ctx.signal.throwIfAborted();
    throw errorMessage(error).startsWith(what)
      ? error
      : refuse(`can't be started with ${argv[0]}: ${errorMessage(error)}`);
  } finally {
    await tree?.end();
  }
}

/** Returns the end of a program; undefined if it takes too long without printing anything. */
async function awaitProgramEnd<T>(
  programEnd: Promise<T>,
  outputBeginning: Beginning,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (;;) {
    const { length } = outputBeginning;
    const end = await within(CASE_PROGRAM_LIMIT_MS, signal, over => resultBeforeAbort(programEnd, over));
    signal.throwIfAborted();
    if (end !== undefined || outputBeginning.length === length) return end;
  }
}

/** The beginning of the text of a stream. */
class Beginning {
  #text = '';
  readonly #closed: Promise<void>;

  constructor(stream: Readable, maximum: number) {
    stream.setEncoding('utf8');
    stream.on('data', (piece: string) => {
      if (this.#text.length < maximum) this.#text += piece;
    });
    this.#closed = new Promise(resolve => {
      stream.on('error', () => resolve());
      stream.on('close', () => resolve());
    });
  }

  get length(): number {
    return this.#text.length;
  }

  /** Returns the text at the end of the stream. */
  async read(): Promise<string> {
    await this.#closed;
    return this.#text;
  }
}
