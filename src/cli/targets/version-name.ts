import { isJsonObject, readListAt } from '../../utils/bounded-json.ts';
import { didYouMean } from '../../utils/nearest-name.ts';
import {
  findLabelFault,
  isUuid,
  MAX_VERSIONS,
  type PromptLabel,
  type PromptVersionEntry,
} from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { type CliError, notFoundError, usageError } from '../core/errors.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { detectLocalService, unlessNotFound } from './not-found.ts';

/** A prompt whose versions are looked up. */
interface VersionedPrompt {
  readonly slug: string;
  readonly promptId: string;
}

/**
 * Returns the version of a prompt that has this label, or whose id begins like this. The service
 * lists the latest ten; older ones need the whole id or a label.
 *
 * @throws {CliError} exit 4 if there is none, exit 2 if there are several
 */
export async function resolveVersion(
  connection: Connection,
  prompt: VersionedPrompt,
  versionName: string,
  signal: AbortSignal,
): Promise<string> {
  if (isUuid(versionName)) return requireVersionId(connection, prompt, versionName, signal);
  const { versions } = await connection.client.versions.list(prompt.promptId, { signal });
  return resolveListedVersion(connection, { ...prompt, versions }, versionName, signal);
}

/** Like `resolveVersion`, for a list of versions that was already fetched. */
export async function resolveListedVersion(
  connection: Connection,
  prompt: VersionedPrompt & { readonly versions: readonly PromptVersionEntry[] },
  versionName: string,
  signal: AbortSignal,
): Promise<string> {
  const { slug, promptId, versions } = prompt;
  if (versions.length < MAX_VERSIONS) return requireListedVersion(versions, versionName, slug);

  const isListed = versions.some(
    ({ promptVersionId }) => promptVersionId === versionName.toLowerCase(),
  );
  if (isUuid(versionName) && !isListed) {
    return requireVersionId(connection, prompt, versionName, signal);
  }

  const mayBeLabel = findLabelFault(versionName) === undefined;
  const labelledId = mayBeLabel
    ? await findLabelledId(connection, promptId, versionName, signal)
    : undefined;
  return labelledId ?? requireListedVersion(versions, versionName, slug);
}

async function requireVersionId(
  connection: Connection,
  { slug, promptId }: VersionedPrompt,
  versionId: string,
  signal: AbortSignal,
): Promise<string> {
  const version = await unlessNotFound(
    connection.client.prompts.get(promptId, { versionId, signal }),
  );
  if (version !== undefined) return version.promptVersionId;
  throw notFoundError(
    `${slug} has no version ${versionId}`,
    `List its versions with: ${connection.formatCommand('versions', 'list', slug)}`,
  );
}

/**
 * Returns the listed id that has this label or begins like this.
 *
 * @throws {CliError} exit 4 if there is none, exit 2 if there are several
 */
function requireListedVersion(
  versions: readonly PromptVersionEntry[],
  versionName: string,
  slug: string,
): string {
  const labelledVersion = versions.find(({ labels }) => readListAt(labels).includes(versionName));
  if (labelledVersion !== undefined) return labelledVersion.promptVersionId;

  const ids = versions.map(({ promptVersionId }) => promptVersionId);
  const matchingIds =
    versionName === '' ? [] : ids.filter(id => id.startsWith(versionName.toLowerCase()));

  const [firstId] = matchingIds;
  if (firstId === undefined) {
    const message = `${slug} has no version that begins with ${JSON.stringify(versionName)}`;
    if (ids.length < MAX_VERSIONS) throw notFoundError(message, `Its versions: ${ids.join(', ')}`);
    throw notFoundError(
      `${message} among its newest ${MAX_VERSIONS}`,
      `Its newest versions: ${ids.join(', ')}`,
      'An older version needs its whole id.',
    );
  }

  if (matchingIds.length === 1) return firstId;

  throw usageError(
    `several versions of ${slug} begin with ${versionName}`,
    `Give more of the id: ${matchingIds.join(', ')}`,
  );
}

/**
 * Returns the version that a label of a prompt points to, however old; undefined if a local service
 * doesn't have the label.
 */
async function findLabelledId(
  connection: Connection,
  promptId: string,
  label: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!(await detectLocalService(connection, signal))) return undefined;
  for await (const row of connection.client.prompts.all({}, { signal })) {
    if (row.promptId !== promptId) continue;
    const labels = readListAt(row.labels).filter(isLabel);
    return labels.find(entry => entry.label === label)?.promptVersionId;
  }
  return undefined;
}

/** Returns true for an entry of the expected form; other services may send anything. */
export function isLabel(value: unknown): value is PromptLabel {
  return (
    isJsonObject(value) &&
    typeof value['label'] === 'string' &&
    typeof value['promptVersionId'] === 'string'
  );
}

export function unknownLabelError(
  connection: Connection,
  slug: string,
  label: string,
  labels: readonly PromptLabel[],
): CliError {
  const names = labels.map(entry => toOneLine(entry.label));
  const hints: string[] = [];
  if (label === 'latest') hints.push(`Without a label, ${slug} is its latest version.`);

  if (names.length > 0) {
    hints.push(`Its labels: ${names.join(', ')}`);
  } else {
    hints.push(`List its versions with: ${connection.formatCommand('versions', 'list', slug)}`);
  }

  return notFoundError(
    `${slug} has no label or version ${JSON.stringify(label)}${didYouMean(label, names)}`,
    ...hints,
  );
}
