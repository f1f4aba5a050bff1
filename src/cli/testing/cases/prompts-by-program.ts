import path from 'node:path';
import type { Readable } from 'node:stream';
import { within } from '../../../client/signals.ts';
import { ProcessTree } from '../../../files/bounds/process-tree.ts';
import { messageOf } from '../../../files/error-utils.ts';
import { environmentWithoutKeys } from '../../../files/programs.ts';
import type { ConvertedCase, PromptProgram } from '../../../prompts/foreign/converted.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { MAX_TEST_FILE_BYTES } from './test-case.ts';

const LIMIT_MS = 30_000;
const MAX_SHOWN = 2000;
/** Marks the program's processes, so that they can be ended. */
const MARK = 'PROMPTRUN_CASE';

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
  const { madePrompt } = await import('../../../prompts/foreign/promptfoo/convert.ts');
  const { keyVariables } = await import('../../../models/catalogue/report.ts');
  const env = environmentWithoutKeys(ctx.env, await keyVariables(ctx));
  const made = new Map<string, Set<number>>();
  const known = new Map<string, string>();
  for (const [at, { vars }] of cases.entries()) {
    const id = program.head['model'] ?? 'echo';
    const context = JSON.stringify({ vars, provider: { id, label: id }, config: {} });
    const text = known.get(context) ?? (await printedBy(context));
    known.set(context, text);
    made.set(text, (made.get(text) ?? new Set<number>()).add(at));
  }
  return [...made].map(([text, only]) => ({ prompt: madePrompt(text, program, name), only }));

  async function printedBy(context: string): Promise<string> {
    const refuse = (what: string) => usageError(`${name}:${program.line}: the program of the prompt ${what}`);
    let tree: ProcessTree | undefined;
    try {
      tree = new ProcessTree(
        { argv: program.argv, directory: path.dirname(file), env: { ...env, [MARK]: file } },
        MARK,
      );
      const { child, ended } = tree;
      const [printed, faults] = [readBeginning(child.stdout), readBeginning(child.stderr)];
      child.stdin.end(context);
      const end = await within(LIMIT_MS, ctx.signal, over => untilOver(ended, over));
      ctx.signal.throwIfAborted();
      if (end === undefined) throw refuse(`took more than ${LIMIT_MS / 1000} s`);
      await tree.end();
      if (end.code !== 0)
        throw refuse(`ended with ${end.code}: ${(await faults).slice(0, MAX_SHOWN).trim()}`);
      return await printed;
    } catch (error) {
      ctx.signal.throwIfAborted();
      throw messageOf(error).startsWith(name) ? error : refuse(`can't be started: ${messageOf(error)}`);
    } finally {
      await tree?.end();
    }
  }
}

async function untilOver<T>(ended: Promise<T>, over: AbortSignal): Promise<T | undefined> {
  return await Promise.race([
    ended,
    new Promise<undefined>(resolve => {
      over.addEventListener('abort', () => resolve(undefined), { once: true });
    }),
  ]);
}

/** Reads a stream to its end and returns the beginning of its text. */
function readBeginning(stream: Readable): Promise<string> {
  return new Promise(resolve => {
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', (piece: string) => {
      if (text.length < MAX_TEST_FILE_BYTES) text += piece;
    });
    stream.on('error', () => resolve(text));
    stream.on('close', () => resolve(text));
  });
}
