import { isDeepStrictEqual } from 'node:util';
import { firstText, textOrNothing } from '../../../files/formats/json-fields.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { PromptVersion, PromptVersionEntry } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { ageText } from '../../core/durations.ts';
import { usageError } from '../../core/errors.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import type { InputFields } from '../../inputs/input-fields.ts';
import { present } from '../../outputs/present.ts';
import { unlessNotFound } from '../../targets/not-found.ts';
import { definitionOfVersion } from '../../targets/prompt-definition.ts';
import { connectionFor, findPromptFile } from '../../targets/prompt-file.ts';
import { askOfPrompt, readPrompt, resolvePrompt } from '../../targets/prompt-name.ts';
import { resolveListedVersion } from '../../targets/version-name.ts';
import { escapeControls, oneLine } from '../../terminal/sanitise.ts';

/** Shows the changes between two versions of a prompt: title, inputs, and on the local service the whole file. */
export async function versionsDiff(ctx: Context, prompt: string, versions: readonly string[]): Promise<void> {
  const isFile = findPromptFile(ctx, prompt, 'command line') !== undefined;
  if (versions.length > (isFile ? 1 : 2)) {
    throw usageError('at most two versions can be compared, and a file counts as one');
  }
  const connection = await connectionFor(ctx, prompt);
  const { promptId, entries, pair } = await chooseVersions(ctx, connection, { prompt, versions, isFile });
  if (pair === undefined) {
    await present(ctx, { changes: [] }, { plain: () => '' });
    ctx.io.note(nothingToCompare(entries.length));
    return;
  }
  const [one, other] = await Promise.all([
    readPrompt(connection, { promptId, promptVersionId: pair[0] }, ctx.signal),
    readPrompt(connection, { promptId, promptVersionId: pair[1] }, ctx.signal),
  ]);
  const isInOrder = isFile || compareAges(entries, one, other) <= 0;
  const [older, newer] = isInOrder ? [one, other] : [other, one];
  const changes = await versionChanges(
    { ...older, text: await versionSource(ctx, connection, older) },
    { ...newer, text: await versionSource(ctx, connection, newer) },
  );
  const text = (): string => differencesText(ctx, { older, newer }, changes);
  await present(ctx, { older, newer, changes }, { terminal: text, plain: text, paged: true });
}

function nothingToCompare(count: number): string {
  if (count === 0) return 'Nothing is published under its slug; there is nothing to compare.';
  return count === 1
    ? 'There is a single version; there is nothing to compare.'
    : 'These are the same version.';
}

/** Returns the whole file on the embedded service, otherwise the template if the service returns it. */
async function versionSource(
  ctx: Context,
  { embedded }: Connection,
  version: PromptVersion,
): Promise<string | undefined> {
  if (!embedded) return firstText(version, 'template');
  const { promptVersionId } = version;
  return (await definitionOfVersion(ctx, promptVersionId))?.source;
}

interface ChosenVersions {
  readonly promptId: string;
  /** The published versions that the service lists, newest first. */
  readonly entries: readonly PromptVersionEntry[];
  /** A file's version is the last; undefined if there is only one version. */
  readonly pair: readonly [string, string] | undefined;
}

async function chooseVersions(
  ctx: Context,
  connection: Connection,
  { prompt, versions, isFile }: { prompt: string; versions: readonly string[]; isFile: boolean },
): Promise<ChosenVersions> {
  const namedPrompt = await resolvePrompt(ctx, connection, prompt);
  const listing = askOfPrompt(connection, namedPrompt, ctx.signal, async ({ promptId, promptVersionId }) => {
    const list = await connection.client.versions.list(promptId, { signal: ctx.signal });
    return { ...list, namedId: promptVersionId };
  });
  // A file may have no published version yet.
  const unpublished = { promptId: namedPrompt.promptId, versions: [], namedId: namedPrompt.promptVersionId };
  const {
    promptId,
    versions: entries,
    namedId,
  } = isFile ? ((await unlessNotFound(listing)) ?? unpublished) : await listing;
  const listedPrompt = { slug: prompt, promptId, versions: entries };
  const requestedIds: string[] = [];
  for (const version of versions) {
    requestedIds.push(await resolveListedVersion(connection, listedPrompt, version, ctx.signal));
  }
  const pair =
    isFile && namedId !== undefined
      ? pairWithFile(entries, requestedIds, namedId)
      : publishedPair(entries, requestedIds, namedId);
  return { promptId, entries, pair };
}

/** Returns the file's version with the requested version, or else with the latest. */
function pairWithFile(
  entries: readonly PromptVersionEntry[],
  [requestedId]: readonly string[],
  fileVersionId: string,
): ChosenVersions['pair'] {
  const older = requestedId ?? entries[0]?.promptVersionId;
  return older === undefined ? undefined : [older, fileVersionId];
}

/**
 * Returns the two requested versions, or one with the version in the prompt's name or the latest, or the latest two.
 */
function publishedPair(
  entries: readonly PromptVersionEntry[],
  [first, second]: readonly string[],
  namedId: string | undefined,
): ChosenVersions['pair'] {
  const [latest, secondLatest] = entries.map(({ promptVersionId }) => promptVersionId);
  const namedOlderId = namedId === latest ? undefined : namedId;
  const [one, other] =
    first === undefined ? [namedOlderId ?? secondLatest, latest] : [first, second ?? namedId ?? latest];
  return one === undefined || other === undefined || one === other ? undefined : [one, other];
}

/** Compares by the order of the list, with versions that are not listed first, by their time. */
function compareAges(
  entries: readonly PromptVersionEntry[],
  version: PromptVersion,
  otherVersion: PromptVersion,
): number {
  const listIndex = ({ promptVersionId }: PromptVersion): number => {
    const index = entries.findIndex(entry => entry.promptVersionId === promptVersionId);
    return index === -1 ? entries.length : index;
  };
  return (
    listIndex(otherVersion) - listIndex(version) ||
    Date.parse(version.publishedAt) - Date.parse(otherVersion.publishedAt)
  );
}

function differencesText(
  ctx: Context,
  { older, newer }: { readonly older: PromptVersion; readonly newer: PromptVersion },
  changes: readonly VersionChange[],
): string {
  const { paint } = ctx.io;
  const head = [
    paint.red(`--- ${versionHeadline(ctx, older)}`),
    paint.green(`+++ ${versionHeadline(ctx, newer)}`),
  ];
  const showText = ctx.io.stdout.isTerminal ? escapeControls : (text: string) => text;
  const parts = changes.flatMap(({ what, name, lines }) => [
    '',
    paint.bold(oneLine(name === undefined ? what : `${what} ${name}`)),
    ...lines.map(line => {
      const text = showText(line);
      if (line.startsWith('-')) return paint.red(text);
      return line.startsWith('+') ? paint.green(text) : text;
    }),
  ]);
  return `${[...head, ...(changes.length === 0 ? ['', 'no differences'] : parts)].join('\n')}\n`;
}

function versionHeadline(ctx: Context, version: PromptVersion): string {
  const age = ageText(textOrNothing(version.publishedAt), ctx.clock.now());
  return oneLine(`${textOrNothing(version.promptVersionId)}  ${textOrNothing(version.title)}  ${age}`);
}

/** A difference between two versions of a prompt. */
interface VersionChange {
  readonly what: 'title' | 'input' | 'image input' | 'config' | 'prompt';
  /** The name of the input or the field of the config. */
  readonly name?: string;
  /** The older value; left out if it is new. */
  readonly before?: unknown;
  /** The newer value; left out if it was removed. */
  readonly after?: unknown;
  /** The two values as lines that begin with `-` or `+`; unchanged lines of a file begin with a blank. */
  readonly lines: readonly string[];
}

/** A version, and on the local service the text of its file or template. */
type Version = PromptVersion & { readonly text: string | undefined };

/** Returns the changes of the title, each input, other fields of the config, and the prompt's text if it is known. */
async function versionChanges(older: Version, newer: Version): Promise<VersionChange[]> {
  const [before, after] = [describeConfig(older.config), describeConfig(newer.config)];
  const inputs = ({ text }: InputFields) => new Map(text.map(({ key, ...field }) => [key, field]));
  const images = (fields: InputFields) =>
    new Map(fields.images.map((image, index) => [String(index + 1), image]));
  return [
    ...changedKeys('title', new Map([['', older.title]]), new Map([['', newer.title]])),
    ...changedKeys('input', inputs(before), inputs(after)),
    ...changedKeys('image input', images(before), images(after)),
    ...changedKeys('config', otherFields(older.config), otherFields(newer.config)),
    ...(await changedFile(older.text, newer.text)),
  ];
}

/** Returns the fields of the config other than inputs, such as options. */
function otherFields(config: unknown): Map<string, unknown> {
  if (!isJsonObject(config)) return new Map();
  const inputs = new Set(['textInputs', 'imageInputs', 'inputsJTD', 'variables', 'images']);
  return new Map(Object.entries(config).filter(([key]) => !inputs.has(key)));
}

function changedKeys(
  what: VersionChange['what'],
  older: ReadonlyMap<string, unknown>,
  newer: ReadonlyMap<string, unknown>,
): VersionChange[] {
  const keys = [...new Set([...older.keys(), ...newer.keys()])];
  return keys
    .filter(key => !isDeepStrictEqual(older.get(key), newer.get(key)))
    .map(key => ({
      what,
      ...(key !== '' && { name: key }),
      ...(older.has(key) && { before: older.get(key) }),
      ...(newer.has(key) && { after: newer.get(key) }),
      lines: [
        ...(older.has(key) ? [`- ${textOrNothing(older.get(key))}`] : []),
        ...(newer.has(key) ? [`+ ${textOrNothing(newer.get(key))}`] : []),
      ],
    }));
}

async function changedFile(
  olderText: string | undefined,
  newerText: string | undefined,
): Promise<VersionChange[]> {
  if (olderText === undefined || newerText === undefined || olderText === newerText) return [];
  const { diffLines } = await import('diff');
  const lines = diffLines(olderText, newerText).flatMap(change =>
    change.value
      .replace(/\n$/u, '')
      .split('\n')
      .map(line => `${changeMark(change)} ${line}`),
  );
  return [{ what: 'prompt', before: olderText, after: newerText, lines }];
}

function changeMark({ added, removed }: { readonly added: boolean; readonly removed: boolean }): string {
  if (added) return '+';
  return removed ? '-' : ' ';
}
