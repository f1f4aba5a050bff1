import type { PromptVersion, PromptVersionEntry } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { fieldText, textUnder } from '../../core/json-value.ts';
import { ageOf } from '../../core/time.ts';
import { notFoundError, usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { connectionFor, promptFileOf, withLocalStore } from '../../inputs/prompt-file.ts';
import {
  askOfPrompt,
  type NamedPrompt,
  readPrompt,
  resolvePrompt,
  unlessNotFound,
} from '../../inputs/prompt-name.ts';
import { present } from '../../outputs/present.ts';
import { oneLine, visible } from '../../terminal/sanitise.ts';
import { type Change, changesBetween } from './changes.ts';

/** Shows what changed between two versions of a prompt: title, inputs, and of the local service the whole file. */
export async function versionsDiff(
  ctx: Context,
  prompt: string,
  versions: readonly string[],
): Promise<ExitCode> {
  if (versions.length > (promptFileOf(ctx, prompt) === undefined ? 2 : 1))
    throw usageError('two versions at most can be compared, a file among them');
  const connection = await connectionFor(ctx, prompt);
  const named = await resolvePrompt(ctx, connection, prompt);
  const isFile = promptFileOf(ctx, prompt) !== undefined;
  const { promptId, pair, count } = await chosen(ctx, connection, named, { versions, isFile });
  if (pair === undefined) {
    await present(ctx, { changes: [] }, { terminal: () => '', plain: () => '' });
    ctx.io.note(nothingToCompare(count));
    return EXIT.ok;
  }
  const [older, newer] = await Promise.all(
    pair.map(promptVersionId => readPrompt(connection, { promptId, promptVersionId }, ctx.signal)),
  );
  if (older === undefined || newer === undefined) throw new Error('two versions were chosen');
  const [before, after] = [await textOf(ctx, connection, older), await textOf(ctx, connection, newer)];
  const changes = await changesBetween({ ...older, text: before }, { ...newer, text: after });
  const forms = () => differences(ctx, { older, newer }, changes);
  await present(ctx, { older, newer, changes }, { terminal: forms, plain: forms, paged: true });
  return EXIT.ok;
}

function nothingToCompare(count: number): string {
  if (count === 0) return 'Nothing is published under its slug; there is nothing to compare.';
  return count === 1
    ? 'There is a single version; there is nothing to compare.'
    : 'These are the same version.';
}

/** The whole file where the service is embedded, else what the service gives of it: nothing, or the template. */
async function textOf(
  ctx: Context,
  { embedded }: Connection,
  version: PromptVersion,
): Promise<string | undefined> {
  if (!embedded) return textUnder(version, 'template');
  const { promptVersionId } = version;
  return (await withLocalStore(ctx, store => store.text({ promptVersionId })))?.source;
}

/** The ids of the two versions, the older first, that of a file last; undefined if they are one. */
async function chosen(
  ctx: Context,
  connection: Connection,
  named: NamedPrompt,
  { versions, isFile }: { readonly versions: readonly string[]; readonly isFile: boolean },
): Promise<{ promptId: string; pair: readonly [string, string] | undefined; count: number }> {
  const listing = askOfPrompt(connection, named, ctx.signal, ({ promptId }) =>
    connection.client.versions.list(promptId, { signal: ctx.signal }),
  );
  const { promptId, versions: entries } = (isFile ? await unlessNotFound(listing) : await listing) ?? {
    promptId: named.promptId,
    versions: [],
  };
  const [latest, before] = entries.map(({ promptVersionId }) => promptVersionId);
  const [first, second] = versions.map(given => fullId(entries, given));
  const own = isFile ? named.promptVersionId : undefined;
  if (own !== undefined) {
    const older = first ?? latest;
    return { promptId, pair: older === undefined ? undefined : [older, own], count: entries.length };
  }
  const pair = first === undefined ? [before, latest] : [first, second ?? latest];
  const [older, newer] = pair.toSorted((one, other) => age(entries, other) - age(entries, one));
  const same = older === undefined || newer === undefined || older === newer;
  return { promptId, pair: same ? undefined : [older, newer], count: entries.length };
}

/** The service lists the ten latest versions; an older one needs its whole id. */
function fullId(entries: readonly PromptVersionEntry[], given: string): string {
  const beginning = given.toLowerCase();
  const fitting = entries.filter(({ promptVersionId }) => promptVersionId.startsWith(beginning));
  const [only, ...others] = fitting.map(({ promptVersionId }) => promptVersionId);
  const ids = entries.map(({ promptVersionId }) => promptVersionId).join(', ');
  if (beginning === '' || only === undefined) {
    throw notFoundError(`no version begins with ${JSON.stringify(given)}`, `Versions: ${ids}`);
  }
  if (others.length > 0) throw usageError(`several versions begin with ${given}`, `Versions: ${ids}`);
  return only;
}

/** Places from the newest. */
function age(entries: readonly PromptVersionEntry[], id: string | undefined): number {
  return entries.findIndex(({ promptVersionId }) => promptVersionId === id);
}

function differences(
  ctx: Context,
  { older, newer }: { readonly older: PromptVersion; readonly newer: PromptVersion },
  changes: readonly Change[],
): string {
  const { paint } = ctx.io;
  const head = [paint.red(`--- ${headline(ctx, older)}`), paint.green(`+++ ${headline(ctx, newer)}`)];
  const shown = ctx.io.stdout.isTerminal ? visible : (text: string) => text;
  const parts = changes.flatMap(({ what, name, lines }) => [
    '',
    paint.bold(oneLine(name === undefined ? what : `${what} ${name}`)),
    ...lines.map(line => {
      const text = shown(line);
      if (line.startsWith('-')) return paint.red(text);
      return line.startsWith('+') ? paint.green(text) : text;
    }),
  ]);
  return `${[...head, ...(changes.length === 0 ? ['', 'no differences'] : parts)].join('\n')}\n`;
}

function headline(ctx: Context, version: PromptVersion): string {
  const age = ageOf(fieldText(version.publishedAt), ctx.clock.now());
  return oneLine(`${fieldText(version.promptVersionId)}  ${fieldText(version.title)}  ${age}`);
}
