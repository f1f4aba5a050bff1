import { toTextOrEmpty } from '../../files/formats/json-fields.ts';
import { isJsonObject, readListAt } from '../../utils/bounded-json.ts';
import { didYouMean } from '../../utils/nearest-name.ts';
import {
  findLabelFault,
  isUuid,
  MAX_QUERY_LENGTH,
  type PromptSearchRow,
  type PromptVersion,
} from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { type CliError, notFoundError, usageError } from '../core/errors.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { ensureFileVersion } from './file-version.ts';
import { isNotFound, unlessNotFound } from './not-found.ts';
import { findPromptFile, resolveTargetAlias } from './prompt-file.ts';
import { isLabel, resolveVersion, unknownLabelError } from './version-name.ts';

/** The prompt that a name means. */
export interface NamedPrompt {
  readonly promptId: string;
  /** The version in the name; undefined means the latest version. */
  readonly promptVersionId?: string;
  /** True for a UUID that was not looked up: it may be a version's id, not a prompt's. */
  readonly mayBeVersion?: boolean;
}

/** Matches a name that would leave its segment of a URL's path, which no id or slug does. */
const SEGMENT_ESCAPE = /[/\\]|^(?:\.|%2e){1,2}$/iu;

/**
 * Resolves an alias, a prompt file (without publishing it), a UUID, a slug, `slug@<label>` or
 * `slug@<beginning of a version id>`, in this order. Asks the service only for a slug.
 *
 * @throws {CliError} exit 4 if the prompt doesn't exist
 */
export async function resolvePrompt(
  ctx: Context,
  connection: Connection,
  name: string,
): Promise<NamedPrompt> {
  const file = findPromptFile(ctx, name, 'command line');
  if (file !== undefined) return ensureFileVersion(ctx, file);

  const target = resolveTargetAlias(ctx, name);
  if (isUuid(target)) return { promptId: target, mayBeVersion: true };

  if (SEGMENT_ESCAPE.test(target) && !target.endsWith('.prompt')) {
    throw usageError(
      `"${toOneLine(target)}" is neither an id nor a slug`,
      formatFindHint(connection),
    );
  }

  return resolvePublishedName(connection, target, ctx.signal).catch(async (error: unknown) => {
    const { withLikelyFile } = await import('./likely-file.ts');
    throw await withLikelyFile(ctx, { target, source: 'command line' }, error);
  });
}

/**
 * Sends a request about a prompt. If its id turns out to be that of a version, sends the request
 * again about the version and its prompt.
 */
export async function requestAboutPrompt<T>(
  { client }: Connection,
  prompt: NamedPrompt,
  signal: AbortSignal,
  request: (prompt: NamedPrompt) => Promise<T>,
): Promise<T> {
  try {
    return await request(prompt);
  } catch (error) {
    if (prompt.mayBeVersion !== true || !isNotFound(error)) throw error;
    const version = await unlessNotFound(client.versions.get(prompt.promptId, { signal }));
    if (version === undefined) throw error;
    return request({ promptId: version.promptId, promptVersionId: version.promptVersionId });
  }
}

/** A prompt that was found by its slug. */
interface FoundPrompt extends NamedPrompt {
  /** The id of the latest version. */
  readonly latestVersionId: string;
  /** The config of the latest version. */
  readonly config: unknown;
  readonly estimatedCredits: unknown;
}

/**
 * Finds the prompt of a slug, or the version of `slug@…`.
 *
 * @throws {CliError} exit 4 if there is none
 */
export async function resolvePublishedName(
  connection: Connection,
  name: string,
  signal: AbortSignal,
): Promise<FoundPrompt> {
  const atIndex = name.lastIndexOf('@');
  const slug = atIndex > 0 ? name.slice(0, atIndex) : name;
  const row = await fetchSlugRow(connection, slug, signal);
  const { promptId, promptVersionId: latestVersionId, configs: config, estimatedCredits } = row;
  const latestPrompt = { promptId, latestVersionId, config, estimatedCredits };
  if (atIndex <= 0) return latestPrompt;

  const promptVersionId = await resolveNamedVersion(
    connection,
    { slug, row },
    name.slice(atIndex + 1),
    signal,
  );
  return { ...latestPrompt, promptVersionId };
}

/** Returns the id of the version that a label, or the beginning of an id, names. */
async function resolveNamedVersion(
  connection: Connection,
  { slug, row }: { readonly slug: string; readonly row: PromptSearchRow },
  versionName: string,
  signal: AbortSignal,
): Promise<string> {
  const labels = readListAt(row.labels).filter(isLabel);
  const labelledVersion = labels.find(({ label }) => label === versionName);
  if (labelledVersion !== undefined) return labelledVersion.promptVersionId;

  if (findLabelFault(versionName) === undefined) {
    throw unknownLabelError(connection, slug, versionName, labels);
  }

  return resolveVersion(connection, { slug, promptId: row.promptId }, versionName, signal);
}

/** Returns the search result with exactly this slug. */
async function fetchSlugRow(
  connection: Connection,
  slug: string,
  signal: AbortSignal,
): Promise<PromptSearchRow> {
  const words = slug.trim();
  if (words === '' || words.length > MAX_QUERY_LENGTH) {
    throw unknownPromptError(connection, slug, []);
  }

  const { rows } = await connection.client.prompts.search(words, { signal });
  const hasExactMatch = rows.some(row => row.slug === words);
  const candidates = hasExactMatch ? rows : await listVideoPrompts(connection, signal);
  const matchingRows = candidates.filter(row => row.slug === words);

  const [match] = matchingRows;
  if (match === undefined) {
    const slugs = [...rows, ...candidates].map(row => toTextOrEmpty(row.slug));
    throw unknownPromptError(connection, slug, slugs);
  }

  const versions = [...new Set(matchingRows.map(row => row.promptVersionId))];
  if (versions.length > 1) {
    throw usageError(
      `several prompts are called ${slug}`,
      `Give the id of one: ${versions.join(', ')}`,
    );
  }

  // Prompts of the embedded service need no cache.
  if (!connection.isEmbedded) cacheRow(connection, match);
  return match;
}

/**
 * Caches the slug and the latest version of a prompt. An empty config says nothing, so a later
 * request may still read it.
 */
function cacheRow({ prompts }: Connection, row: PromptSearchRow): void {
  const { promptVersionId, promptId, title, publishedAt, configs: config, slug, model } = row;
  prompts.putSlug(promptId, slug);
  if (!isJsonObject(config) || Object.keys(config).length === 0) return;

  const cachedVersion = prompts.get(promptVersionId);
  if (cachedVersion === undefined || cachedVersion.model !== model) {
    prompts.put({ promptVersionId, promptId, title, publishedAt, config, model });
  }
}

/**
 * Lists prompts that make videos, which the search omits; only a local service lists every prompt.
 */
async function listVideoPrompts(
  { client, isEmbedded }: Connection,
  signal: AbortSignal,
): Promise<PromptSearchRow[]> {
  const rows: PromptSearchRow[] = [];
  if (!isEmbedded) return rows;
  for await (const row of client.prompts.all({}, { signal })) rows.push(row);
  return rows;
}

/**
 * Returns the version that a name or an id means, else the latest.
 *
 * @throws {CliError} exit 4 if there is none
 */
export async function readNamedPrompt(
  ctx: Context,
  connection: Connection,
  name: string,
  versionId?: string,
): Promise<PromptVersion> {
  const namedPrompt = await resolvePrompt(ctx, connection, name);
  const prompt =
    versionId === undefined ? namedPrompt : { ...namedPrompt, promptVersionId: versionId };
  return requestAboutPrompt(connection, prompt, ctx.signal, found =>
    readPrompt(connection, found, ctx.signal),
  );
}

/**
 * Returns the version in a prompt's name, else the latest, and caches it, because versions never
 * change.
 */
export async function readPrompt(
  connection: Connection,
  { promptId, promptVersionId: versionId }: NamedPrompt,
  signal: AbortSignal,
): Promise<PromptVersion> {
  const version = await connection.client.prompts.get(promptId, {
    ...(versionId !== undefined && { versionId }),
    signal,
  });
  connection.prompts.put(version);
  return version;
}

/** Returns the hint for an unknown prompt name. */
export function formatFindHint({ isEmbedded, formatCommand }: Connection): string {
  return isEmbedded
    ? `List the prompts with: ${formatCommand('prompts', 'list')}`
    : `Find prompts with: ${formatCommand('prompts', 'search')} <words>`;
}

function unknownPromptError(
  connection: Connection,
  slug: string,
  slugs: readonly string[],
): CliError {
  const file = slug.endsWith('.prompt') ? ', and neither does a file of that name' : '';
  return notFoundError(
    `the prompt "${toOneLine(slug)}" does not exist${file}${didYouMean(slug, slugs)}`,
    formatFindHint(connection),
  );
}
