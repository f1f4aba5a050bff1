import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { nearest } from '../../utils/nearest-name.ts';
import type { Context } from '../context.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { oneLine } from '../terminal/sanitise.ts';
import { REVISION_MARK, type TargetSource } from './prompt-file.ts';

const PROMPT_EXTENSION = '.prompt';

/** Adds the prompt file that was probably meant to the error for an unknown name. */
export async function withLikelyFile(
  ctx: Context,
  { target, source }: { readonly target: string; readonly source: TargetSource },
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) return error;
  const { status, exitCode, data, message, hints } = error;
  const [, name = '', revision] = /^(.+?)(?:@(?:git:)?([^@]+))?$/u.exec(target) ?? [];
  const file = name.endsWith(PROMPT_EXTENSION) ? name : `${name}${PROMPT_EXTENSION}`;
  const promptPath = path.resolve(ctx.cwd, file);
  if (!isFile(promptPath)) {
    const meant = source === 'command line' && !message.includes('did you mean') && similarFile(promptPath);
    if (typeof meant !== 'string') return error;
    const hint = `Did you mean the file ${oneLine(path.join(path.dirname(file), meant))}?`;
    return new CliError(message, { status, exitCode, data, cause: error, hints: [hint, ...hints] });
  }
  const isCommitted =
    source === 'command line' &&
    revision !== undefined &&
    (await (await import('./git/revision.ts')).isRevision(ctx, promptPath, revision));
  const hint = `Did you mean ${isCommitted ? `${file}${REVISION_MARK}${revision}` : `the file ${file}`}?`;
  // The file exists, but the name continues after it.
  const what = file === name ? `the prompt "${oneLine(target)}" does not exist` : message;
  return new CliError(what, { status, exitCode, data, cause: error, hints: [hint, ...hints] });
}

/** Returns the name of the prompt file in the same directory whose name is nearest; undefined if none is near. */
function similarFile(file: string): string | undefined {
  try {
    const names = readdirSync(path.dirname(file)).filter(name => name.endsWith(PROMPT_EXTENSION));
    const stems = names.map(name => path.basename(name, PROMPT_EXTENSION));
    const meant = nearest(path.basename(file, PROMPT_EXTENSION), stems);
    return meant && meant + PROMPT_EXTENSION;
  } catch {
    return undefined;
  }
}

function isFile(file: string): boolean {
  return existsSync(file) && statSync(file).isFile();
}
