import { isDeepStrictEqual } from 'node:util';
import { textOrNothing, textUnder } from '../../../files/formats/json-fields.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { PromptVersion, PromptVersionEntry } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { ageText } from '../../core/durations.ts';
import { usageError } from '../../core/errors.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import { present } from '../../outputs/present.ts';
import { unlessNotFound } from '../../targets/not-found.ts';
import { definitionOfVersion } from '../../targets/prompt-definition.ts';
import { connectionFor, findPromptFile } from '../../targets/prompt-file.ts';
import { askOfPrompt, type NamedPrompt, readPrompt, resolvePrompt } from '../../targets/prompt-name.ts';
import { versionListedOrOlder } from '../../targets/version-name.ts';
import { escapeControls, oneLine } from '../../terminal/sanitise.ts';

/** Shows the changes between two versions of a prompt: title, inputs, and on the local service the whole file. */
export async function versionsDiff(ctx: Context, prompt: string, versions: readonly string[]): Promise<void> {
  if (versions.length > (findPromptFile(ctx, prompt, 'command line') === undefined ? 2 : 1)) {
    throw usageError('at most two versions can be compared, and a file counts as one');
  }
  const connection = await connectionFor(ctx, prompt);
  const named = await resolvePrompt(ctx, connection, prompt);
  const isFile = findPromptFile(ctx, prompt, 'command line') !== undefined;
  const { promptId, entries, pair } = await chosenVersions(ctx, connection, named, {
    name: prompt,
    versions,
    isFile,
  });
  if (pair === undefined) {
    await present(ctx, { changes: [] }, { plain: () => '' });
    ctx.io.note(nothingToCompare(entries.length));
    return;
  }
  const read = await Promise.all(
    pair.map(promptVersionId => readPrompt(connection, { promptId, promptVersionId }, ctx.signal)),
  );
  const [older, newer] = isFile ? read : read.toSorted((one, other) => compareAges(entries, one, other));
  if (older === undefined || newer === undefined) throw new Error('two versions were chosen');
  const [before, after] = [
    await versionSource(ctx, connection, older),
    await versionSource(ctx, connection, newer),
  ];
  const changes = await versionChanges({ ...older, text: before }, { ...newer, text: after });
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
  if (!embedded) return textUnder(version, 'template');
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

async function chosenVersions(
  ctx: Context,
  connection: Connection,
  prompt: NamedPrompt,
  {
    name,
    versions,
    isFile,
  }: { readonly name: string; readonly versions: readonly string[]; readonly isFile: boolean },
): Promise<ChosenVersions> {
  let namedPrompt = prompt;
  const listing = askOfPrompt(connection, prompt, ctx.signal, of => {
    namedPrompt = of;
    return connection.client.versions.list(of.promptId, { signal: ctx.signal });
  });
  // A file may have no published version yet.
  const unpublished = { promptId: prompt.promptId, versions: [] };
  const { promptId, versions: entries } = isFile
    ? ((await unlessNotFound(listing)) ?? unpublished)
    : await listing;
  const requestedIds: string[] = [];
  for (const version of versions) {
    const of = { slug: name, promptId, versions: entries };
    requestedIds.push(await versionListedOrOlder(connection, of, version, ctx.signal));
  }
  const ownVersionId = namedPrompt.promptVersionId;
  const pair =
    isFile && ownVersionId !== undefined
      ? pairWithFile(entries, requestedIds, ownVersionId)
      : publishedPair(entries, requestedIds, ownVersionId);
  return { promptId, entries, pair };
}

/** Returns the file's version with the requested version, or else with the latest. */
function pairWithFile(
  entries: readonly PromptVersionEntry[],
  [asked]: readonly string[],
  ofFile: string,
): ChosenVersions['pair'] {
  const older = asked ?? entries[0]?.promptVersionId;
  return older === undefined ? undefined : [older, ofFile];
}

/**
 * Returns the two requested versions, or one with the version in the prompt's name or the latest, or the latest two.
 */
function publishedPair(
  entries: readonly PromptVersionEntry[],
  [first, second]: readonly string[],
  namedId: string | undefined,
): ChosenVersions['pair'] {
  const [latest, before] = entries.map(({ promptVersionId }) => promptVersionId);
  const other = namedId === latest ? before : (namedId ?? before);
  const [one, two] = first === undefined ? [other, latest] : [first, second ?? namedId ?? latest];
  return one === undefined || two === undefined || one === two ? undefined : [one, two];
}

/** Compares by the order of the list, with versions that are not listed first, by their time. */
function compareAges(
  entries: readonly PromptVersionEntry[],
  version: PromptVersion,
  otherVersion: PromptVersion,
): number {
  const [place, otherPlace] = [version, otherVersion].map(({ promptVersionId }) => {
    const index = entries.findIndex(entry => entry.promptVersionId === promptVersionId);
    return index === -1 ? entries.length : index;
  }) as [number, number];
  return otherPlace - place || Date.parse(version.publishedAt) - Date.parse(otherVersion.publishedAt);
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
  const inputs = (fields: typeof before) => new Map(fields.text.map(({ key, ...field }) => [key, field]));
  const images = (fields: typeof before) =>
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
