import { isDeepStrictEqual } from 'node:util';
import { findFirstText, toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { PromptVersion, PromptVersionEntry } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { usageError } from '../../core/errors.ts';
import type { InputFields } from '../../inputs/input-fields.ts';
import { readInputFields } from '../../inputs/read-input-fields.ts';
import { present } from '../../outputs/present.ts';
import { unlessNotFound } from '../../targets/not-found.ts';
import { findVersionDefinition } from '../../targets/prompt-definition.ts';
import { findPromptFile, getTargetConnection } from '../../targets/prompt-file.ts';
import { readPrompt, requestAboutPrompt, resolvePrompt } from '../../targets/prompt-name.ts';
import { resolveListedVersion } from '../../targets/version-name.ts';
import { escapeControls, toOneLine } from '../../terminal/sanitise.ts';

/**
 * Shows the changes between two versions of a prompt: title, inputs, and on the embedded service
 * the whole file.
 */
export async function diffVersions(
  ctx: Context,
  prompt: string,
  versions: readonly string[],
): Promise<void> {
  const isFile = findPromptFile(ctx, prompt, 'command line') !== undefined;
  if (versions.length > (isFile ? 1 : 2)) {
    throw usageError('at most two versions can be compared, and a file counts as one');
  }

  const connection = await getTargetConnection(ctx, prompt);
  const { promptId, entries, versionIds } = await chooseVersions(ctx, connection, {
    prompt,
    versions,
    isFile,
  });

  if (versionIds === undefined) {
    await present(ctx, { changes: [] }, { plain: () => '' });
    ctx.io.note(explainNothingToCompare(entries.length));
    return;
  }

  const [first, second] = await Promise.all([
    readPrompt(connection, { promptId, promptVersionId: versionIds[0] }, ctx.signal),
    readPrompt(connection, { promptId, promptVersionId: versionIds[1] }, ctx.signal),
  ]);

  const isFirstOlder = isFile || compareAges(entries, first, second) <= 0;
  const [older, newer] = isFirstOlder ? [first, second] : [second, first];
  const changes = await listVersionChanges(
    { ...older, text: await readVersionSource(ctx, connection, older) },
    { ...newer, text: await readVersionSource(ctx, connection, newer) },
  );

  const formatAllChanges = (): string => formatChanges(ctx, { older, newer }, changes);
  await present(
    ctx,
    { older, newer, changes },
    { terminal: formatAllChanges, plain: formatAllChanges, paged: true },
  );
}

function explainNothingToCompare(count: number): string {
  if (count === 0) return 'Nothing is published under its slug; there is nothing to compare.';
  return count === 1
    ? 'There is a single version; there is nothing to compare.'
    : 'These are the same version.';
}

/**
 * Returns the whole file on the embedded service, otherwise the template if the service returns it.
 */
async function readVersionSource(
  ctx: Context,
  { isEmbedded }: Connection,
  version: PromptVersion,
): Promise<string | undefined> {
  if (!isEmbedded) return findFirstText(version, 'template');
  const { promptVersionId } = version;
  return (await findVersionDefinition(ctx, promptVersionId))?.source;
}

interface ChosenVersions {
  readonly promptId: string;
  /** The published versions that the service lists, newest first. */
  readonly entries: readonly PromptVersionEntry[];
  /** Undefined unless there are two different versions. A file's version comes second. */
  readonly versionIds: readonly [firstId: string, secondId: string] | undefined;
}

interface VersionChoice {
  /** The prompt as the user names it. */
  readonly prompt: string;
  /** The versions that the user names: ids, their beginnings or labels. */
  readonly versions: readonly string[];
  readonly isFile: boolean;
}

async function chooseVersions(
  ctx: Context,
  connection: Connection,
  { prompt, versions, isFile }: VersionChoice,
): Promise<ChosenVersions> {
  const { signal } = ctx;
  const namedPrompt = await resolvePrompt(ctx, connection, prompt);
  const listRequest = requestAboutPrompt(connection, namedPrompt, signal, async ids => {
    const list = await connection.client.versions.list(ids.promptId, { signal });
    return { ...list, namedId: ids.promptVersionId };
  });

  // A file may have no published version yet.
  const unpublished = {
    promptId: namedPrompt.promptId,
    versions: [],
    namedId: namedPrompt.promptVersionId,
  };

  const versionList = isFile
    ? ((await unlessNotFound(listRequest)) ?? unpublished)
    : await listRequest;
  const { promptId, versions: entries, namedId } = versionList;

  const listedPrompt = { slug: prompt, promptId, versions: entries };
  const requestedIds: string[] = [];
  for (const version of versions) {
    requestedIds.push(await resolveListedVersion(connection, listedPrompt, version, signal));
  }

  const versionIds =
    isFile && namedId !== undefined
      ? pairWithFile(entries, requestedIds, namedId)
      : pairPublished(entries, requestedIds, namedId);
  return { promptId, entries, versionIds };
}

/** Returns the file's version with the requested version, or else with the latest. */
function pairWithFile(
  entries: readonly PromptVersionEntry[],
  [requestedId]: readonly string[],
  fileVersionId: string,
): ChosenVersions['versionIds'] {
  const olderId = requestedId ?? entries[0]?.promptVersionId;
  return olderId === undefined ? undefined : [olderId, fileVersionId];
}

/**
 * Returns two requested versions. With one, returns it and the version in the prompt's name, or else
 * the latest. With none, returns the version in the prompt's name and the latest, or else the latest
 * two.
 */
function pairPublished(
  entries: readonly PromptVersionEntry[],
  [firstId, secondId]: readonly string[],
  namedId: string | undefined,
): ChosenVersions['versionIds'] {
  const [latestId, secondLatestId] = entries.map(({ promptVersionId }) => promptVersionId);
  if (firstId !== undefined && secondId !== undefined) return pairIfDifferent(firstId, secondId);
  if (firstId !== undefined) return pairIfDifferent(firstId, namedId ?? latestId);
  if (namedId !== undefined && namedId !== latestId) return pairIfDifferent(namedId, latestId);
  return pairIfDifferent(secondLatestId, latestId);
}

function pairIfDifferent(
  olderId: string | undefined,
  newerId: string | undefined,
): ChosenVersions['versionIds'] {
  if (olderId === undefined || newerId === undefined || olderId === newerId) return undefined;
  return [olderId, newerId];
}

/**
 * Returns a negative number if a version is older than another, by the order of the list. Versions
 * that it lacks are older than all others, and are compared by their time.
 */
function compareAges(
  entries: readonly PromptVersionEntry[],
  version: PromptVersion,
  otherVersion: PromptVersion,
): number {
  const getListIndex = ({ promptVersionId }: PromptVersion): number => {
    const index = entries.findIndex(entry => entry.promptVersionId === promptVersionId);
    return index === -1 ? entries.length : index;
  };
  return (
    getListIndex(otherVersion) - getListIndex(version) ||
    Date.parse(version.publishedAt) - Date.parse(otherVersion.publishedAt)
  );
}

function formatChanges(
  ctx: Context,
  { older, newer }: { readonly older: PromptVersion; readonly newer: PromptVersion },
  changes: readonly VersionChange[],
): string {
  const { paint } = ctx.io;
  const head = [
    paint.red(`--- ${formatVersionHeadline(ctx, older)}`),
    paint.green(`+++ ${formatVersionHeadline(ctx, newer)}`),
  ];

  const sanitise = ctx.io.stdout.isTerminal ? escapeControls : (text: string) => text;
  const parts = changes.flatMap(({ what, name, lines }) => [
    '',
    paint.bold(toOneLine(name === undefined ? what : `${what} ${name}`)),
    ...lines.map(line => {
      const text = sanitise(line);
      if (line.startsWith('-')) return paint.red(text);
      return line.startsWith('+') ? paint.green(text) : text;
    }),
  ]);

  return `${[...head, ...(changes.length === 0 ? ['', 'no differences'] : parts)].join('\n')}\n`;
}

function formatVersionHeadline(ctx: Context, version: PromptVersion): string {
  const age = formatIsoAge(toTextOrEmpty(version.publishedAt), ctx.clock.now());
  return toOneLine(
    `${toTextOrEmpty(version.promptVersionId)}  ${toTextOrEmpty(version.title)}  ${age}`,
  );
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
  /**
   * The two values as lines that begin with `-` or `+`; unchanged lines of a file begin with a
   * blank.
   */
  readonly lines: readonly string[];
}

/** A version, and the text of its file or template if it is known. */
type VersionWithText = PromptVersion & { readonly text: string | undefined };

/**
 * Returns the changes of the title, each input, other fields of the config, and the prompt's text
 * if it is known.
 */
async function listVersionChanges(
  older: VersionWithText,
  newer: VersionWithText,
): Promise<VersionChange[]> {
  const before = readInputFields(older.config);
  const after = readInputFields(newer.config);
  const mapTextInputs = ({ text }: InputFields) =>
    new Map(text.map(({ key, ...field }) => [key, field]));
  const mapImages = (fields: InputFields) =>
    new Map(fields.images.map((image, index) => [String(index + 1), image]));

  return [
    ...listChangedKeys('title', toUnnamedValue(older.title), toUnnamedValue(newer.title)),
    ...listChangedKeys('input', mapTextInputs(before), mapTextInputs(after)),
    ...listChangedKeys('image input', mapImages(before), mapImages(after)),
    ...listChangedKeys('config', pickOtherFields(older.config), pickOtherFields(newer.config)),
    ...(await listTextChanges(older.text, newer.text)),
  ];
}

/** The key of a value that needs no name, such as a title. */
const UNNAMED = '';

function toUnnamedValue(value: unknown): Map<string, unknown> {
  return new Map([[UNNAMED, value]]);
}

/** Returns the fields of the config other than inputs in any of their forms, such as options. */
function pickOtherFields(config: unknown): Map<string, unknown> {
  if (!isJsonObject(config)) return new Map();
  const inputs = new Set(['textInputs', 'imageInputs', 'inputsJTD', 'variables', 'images']);
  return new Map(Object.entries(config).filter(([key]) => !inputs.has(key)));
}

function listChangedKeys(
  what: VersionChange['what'],
  older: ReadonlyMap<string, unknown>,
  newer: ReadonlyMap<string, unknown>,
): VersionChange[] {
  const keys = [...new Set([...older.keys(), ...newer.keys()])];
  return keys
    .filter(key => !isDeepStrictEqual(older.get(key), newer.get(key)))
    .map(key => ({
      what,
      ...(key !== UNNAMED && { name: key }),
      ...(older.has(key) && { before: older.get(key) }),
      ...(newer.has(key) && { after: newer.get(key) }),
      lines: [
        ...(older.has(key) ? [`- ${toTextOrEmpty(older.get(key))}`] : []),
        ...(newer.has(key) ? [`+ ${toTextOrEmpty(newer.get(key))}`] : []),
      ],
    }));
}

async function listTextChanges(
  olderText: string | undefined,
  newerText: string | undefined,
): Promise<VersionChange[]> {
  if (olderText === undefined || newerText === undefined || olderText === newerText) return [];
  const { diffLines } = await import('diff');
  const lines = diffLines(olderText, newerText).flatMap(change =>
    change.value
      .replace(/\n$/u, '')
      .split('\n')
      .map(line => `${getChangeMark(change)} ${line}`),
  );
  return [{ what: 'prompt', before: olderText, after: newerText, lines }];
}

function getChangeMark(change: { readonly added: boolean; readonly removed: boolean }): string {
  if (change.added) return '+';
  return change.removed ? '-' : ' ';
}
