import path from 'node:path';
import type { Readable } from 'node:stream';
import { ProcessTree } from '../../../../files/bounds/process-tree.ts';
import { messageOf } from '../../../../files/error-utils.ts';
import { environmentWithoutKeys } from '../../../../files/programs/programs.ts';
import { within } from '../../../../net/signals.ts';
import type { Context } from '../../../context.ts';
import { usageError } from '../../../errors.ts';
import { MAX_TEST_FILE_BYTES } from '../test-case.ts';

const LIMIT_MS = 30_000;
const MAX_SHOWN = 2000;
/** Marks the program's processes, so that they can be ended. */
const MARK = 'PROMPTRUN_CASE';

/**
 * Returns the output of a program that a configuration names.
 *
 * @param options the configuration, standard input, and the program's name in messages, with its position
 * @throws {CliError} USAGE_ERROR if the program fails, or takes too long
 */
export async function programOutput(
  ctx: Context,
  argv: readonly [string, ...string[]],
  { file, input, what }: { readonly file: string; readonly input: string; readonly what: string },
): Promise<string> {
  const { keyVariables } = await import('../../../../models/catalogue/report.ts');
  const env = environmentWithoutKeys(ctx.env, await keyVariables(ctx));
  const refuse = (why: string) => usageError(`${what} ${why}`);
  let tree: ProcessTree | undefined;
  try {
    tree = new ProcessTree({ argv, directory: path.dirname(file), env: { ...env, [MARK]: file } }, MARK);
    const { child, ended } = tree;
    const [printed, faults] = [readBeginning(child.stdout), readBeginning(child.stderr)];
    child.stdin.end(input);
    const end = await within(LIMIT_MS, ctx.signal, over => untilOver(ended, over));
    ctx.signal.throwIfAborted();
    if (end === undefined) throw refuse(`took more than ${LIMIT_MS / 1000} s`);
    await tree.end();
    if (end.code !== 0) throw refuse(`ended with ${end.code}: ${(await faults).slice(0, MAX_SHOWN).trim()}`);
    return await printed;
  } catch (error) {
    ctx.signal.throwIfAborted();
    throw messageOf(error).startsWith(what)
      ? error
      : refuse(`can't be started with ${argv[0]}: ${messageOf(error)}`);
  } finally {
    await tree?.end();
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
