import { createHash } from 'node:crypto';
import path from 'node:path';
import { parseJson } from '../../../files/formats/json.ts';
import { openForAppend } from '../../../files/writing/append-log.ts';
import { waitForLock } from '../../../files/writing/lock.ts';
import { openForReading } from '../../../files/writing/open-for-reading.ts';
import { type ContainedPath, makeContainedFolder } from '../../../files/writing/write-below.ts';
import { replaceFile } from '../../../files/writing/write-file.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import type { EntryResult } from '../entry-result.ts';
import type { PreparedEntry } from './prepare-entries.ts';

/** Size in bytes from which the oldest verdicts are dropped. */
const MAX_VERDICTS_BYTES = 4 * 1024 * 1024;

type Verdict = Exclude<EntryResult['status'], 'unchecked'>;

/** The verdict on a case that has run. */
export interface EntryVerdict {
  readonly preparedEntry: PreparedEntry;
  readonly verdict: Verdict;
}

/** Saves verdicts for `--failed`. If they can't be written, only a note says so. */
export async function saveVerdicts(
  ctx: Context,
  entryVerdicts: readonly EntryVerdict[],
): Promise<void> {
  const text = entryVerdicts
    .map(
      ({ preparedEntry, verdict }) =>
        `${JSON.stringify({ ids: computeCaseIds(preparedEntry), verdict })}\n`,
    )
    .join('');
  try {
    await appendVerdicts(ctx, getVerdictFile(ctx), text);
  } catch (error) {
    ctx.io.note(`note: --failed won't know these results: ${getErrorMessage(error)}`);
  }
}

/** The last verdict on each case, from earlier tests. */
export interface LastVerdicts {
  /**
   * Returns the verdict on a case, even one before an edit; undefined if it never ran. Considers
   * tests of the same kind as this one, live or recorded, by default.
   */
  find(
    preparedEntry: PreparedEntry,
    kind?: { readonly isReplay: boolean },
  ): 'passed' | 'failed' | undefined;
}

export async function loadLastVerdicts(ctx: Context): Promise<LastVerdicts> {
  const verdicts = new Map<unknown, unknown>();
  for (const { ids, verdict } of parseVerdictLines(await readVerdictsText(getVerdictFile(ctx)))) {
    for (const id of ids) verdicts.set(id, verdict);
  }

  return {
    find(preparedEntry, { isReplay } = { isReplay: ctx.isReplay }) {
      const id = computeCaseIds(preparedEntry, isReplay).find(caseId => verdicts.has(caseId));
      if (id === undefined) return undefined;
      return verdicts.get(id) === 'passed' ? 'passed' : 'failed';
    },
  };
}

function getVerdictFile({ stateDir }: Context): ContainedPath {
  return { folder: stateDir, name: path.join('tests', 'verdicts.jsonl') };
}

async function appendVerdicts(
  { clock }: Context,
  file: ContainedPath,
  text: string,
): Promise<void> {
  makeContainedFolder({ ...file, name: path.dirname(file.name) }, 0o700);

  // `openForAppend` takes the file's own lock to cut off a torn line, so this is another one.
  const release = await waitForLock({ ...file, name: `${file.name}.writer` }, clock);
  if (release === undefined) throw new Error('another test is writing its own');

  try {
    const handle = await openForAppend(file);
    try {
      await handle.appendFile(text);
      if ((await handle.stat()).size <= MAX_VERDICTS_BYTES) return;
    } finally {
      await handle.close();
    }
    await replaceFile(file, pickLatestVerdicts(await readVerdictsText(file)), 0o600);
  } finally {
    release();
  }
}

/**
 * Returns the lines with the latest verdict on each case, without the oldest if they take more than
 * half of the space.
 */
function pickLatestVerdicts(text: string): string {
  const seenIds = new Set<unknown>();
  const keptLines: string[] = [];
  let size = 0;
  for (const line of parseVerdictLines(text).toReversed()) {
    const hasNewId = line.ids.some(id => !seenIds.has(id));
    for (const id of line.ids) seenIds.add(id);
    if (!hasNewId) continue;
    const lineText = `${JSON.stringify(line)}\n`;
    size += lineText.length;
    if (size > MAX_VERDICTS_BYTES / 2) break;
    keptLines.push(lineText);
  }

  return keptLines.toReversed().join('');
}

function parseVerdictLines(
  text: string,
): { readonly ids: readonly unknown[]; readonly verdict: unknown }[] {
  return text.split('\n').flatMap(source => {
    const line = parseJson(source);
    if (!isJsonObject(line) || !Array.isArray(line['ids'])) return [];
    return [{ ids: line['ids'], verdict: line['verdict'] }];
  });
}

async function readVerdictsText(file: ContainedPath): Promise<string> {
  const handle = await openForReading(file);
  try {
    return (await handle?.readFile('utf8')) ?? '';
  } finally {
    await handle?.close();
  }
}

/**
 * Returns the ids of a case at its service: if it has a name, one by the name, which survives an
 * edit of the case; then one by its content, which survives a new name.
 */
function computeCaseIds(
  { connection, entry, key, nameKey, numberInFile }: PreparedEntry,
  isReplay = connection.recorder?.mode === 'replay',
): string[] {
  const scope = [isReplay ? 'replay' : connection.serviceName, isReplay, entry.file.path];
  const byName = nameKey === undefined ? [] : [[nameKey]];
  const byContent = [key, numberInFile];

  return [...byName, byContent].map(identity =>
    createHash('sha256')
      .update(JSON.stringify([...scope, ...identity]))
      .digest('hex')
      .slice(0, 32),
  );
}
