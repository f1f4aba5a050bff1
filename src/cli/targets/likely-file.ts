import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { findNearestName } from '../../utils/nearest-name.ts';
import type { Context } from '../context.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { REVISION_MARK, type TargetSource } from './prompt-file.ts';

const PROMPT_EXTENSION = '.prompt';

/** Matches a name that may end in a revision, as in `haiku@git:HEAD~1` or `haiku@main`. */
const REVISED_NAME = /^(?<name>.+?)(?:@(?:git:)?(?<revision>[^@]+))?$/u;

/** Adds the prompt file that was probably meant to the error for an unknown name. */
export async function withLikelyFile(
  ctx: Context,
  { target, source }: { readonly target: string; readonly source: TargetSource },
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) return error;

  const { name = '', revision } = REVISED_NAME.exec(target)?.groups ?? {};
  const file = name.endsWith(PROMPT_EXTENSION) ? name : `${name}${PROMPT_EXTENSION}`;

  const promptPath = path.resolve(ctx.cwd, file);
  const isTyped = source === 'command line';
  if (!isFile(promptPath)) {
    const hasSuggestion = error.message.includes('did you mean');
    const similarName = isTyped && !hasSuggestion ? findSimilarFile(promptPath) : undefined;
    if (similarName === undefined) return error;
    return withSuggestion(
      error,
      `the file ${toOneLine(path.join(path.dirname(file), similarName))}`,
    );
  }

  const suggestion =
    isTyped && revision !== undefined && (await isCommitted(ctx, promptPath, revision))
      ? `${file}${REVISION_MARK}${revision}`
      : `the file ${file}`;

  // The name may be that of the file, followed by something other than a revision.
  const message =
    file === name ? `the prompt "${toOneLine(target)}" does not exist` : error.message;
  return withSuggestion(error, suggestion, message);
}

function withSuggestion(error: CliError, suggestion: string, message = error.message): CliError {
  const { status, exitCode, data, hints } = error;
  const suggestionHint = `Did you mean ${suggestion}?`;
  return new CliError(message, {
    status,
    exitCode,
    data,
    cause: error,
    hints: [suggestionHint, ...hints],
  });
}

async function isCommitted(ctx: Context, file: string, revision: string): Promise<boolean> {
  const { isRevision } = await import('./git/revision.ts');
  return isRevision(ctx, file, revision);
}

/**
 * Returns the name of the prompt file in the same directory whose name is nearest; undefined if
 * none is near.
 */
function findSimilarFile(file: string): string | undefined {
  try {
    const names = readdirSync(path.dirname(file)).filter(name => name.endsWith(PROMPT_EXTENSION));
    const stems = names.map(name => path.basename(name, PROMPT_EXTENSION));
    const nearestStem = findNearestName(path.basename(file, PROMPT_EXTENSION), stems);
    return nearestStem && nearestStem + PROMPT_EXTENSION;
  } catch {
    return undefined;
  }
}

function isFile(file: string): boolean {
  return existsSync(file) && statSync(file).isFile();
}
