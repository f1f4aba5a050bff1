import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findOwnValue, type JsonObject, parseJson } from '../../files/formats/json.ts';
import { getLastAliveTime, lockFile } from '../../files/writing/lock.ts';
import { makeDirectory } from '../../files/writing/write-below.ts';
import { endOrphanedTree, type TreeRoot } from '../../processes/process-tree.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';

/**
 * The variable with the path of the run's file. Child processes inherit it, so that they can be
 * found by it.
 */
export const RUN_VARIABLE = 'PROMPTRUN_RUN';

const RUN_FOLDER_PREFIX = 'promptrun-run-';
const RUN_FILE = 'run.json';

/** The files of a program while it runs. */
export interface RunFolder {
  /** The path of the file with facts about the run, which `PROMPTRUN_RUN` names. */
  readonly factsFile: string;
  /** The path of the folder for its images, in which it starts if its entry says so. */
  readonly workingDirectory: string;
  /** Replaces the facts in the file by those of another run. */
  replaceFacts(facts: object): Promise<void>;
  /** Records the started process, so that a later one can end what it leaves running. */
  recordStart(program: TreeRoot): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Creates the folder of a run. If this process is killed, a later one finds and removes it.
 *
 * @param recordsFolder the folder that records running programs
 * @param facts the facts about the run that its program may read
 */
export async function createRunFolder(recordsFolder: string, facts: object): Promise<RunFolder> {
  const id = randomUUID();
  const root = path.join(tmpdir(), `${RUN_FOLDER_PREFIX}${id}`);
  const name = `${id}.json`;

  // The record comes first, so that no folder is left of a process that is killed here.
  const release = await writeRecord(recordsFolder, name, root);
  const remove = async (): Promise<void> => {
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
    await rm(path.join(recordsFolder, name), { force: true });
    release();
  };

  try {
    const factsFile = path.join(root, RUN_FILE);
    const workingDirectory = path.join(root, 'folder');
    const writeFacts = (currentFacts: object): Promise<void> =>
      writeFile(factsFile, JSON.stringify(currentFacts), { mode: 0o600 });
    await mkdir(root, { mode: 0o700 });
    await writeFacts(facts);
    await mkdir(workingDirectory, { mode: 0o700 });

    // Appended, because a kill in the middle of a rewrite would lose the folder.
    const recordStart = async (program: TreeRoot): Promise<void> =>
      await appendFile(path.join(recordsFolder, name), `${JSON.stringify(program)}\n`);
    return { factsFile, workingDirectory, replaceFacts: writeFacts, recordStart, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Writes a record. Locks it first, so that no other process considers this one dead. */
async function writeRecord(recordsFolder: string, name: string, root: string): Promise<() => void> {
  makeDirectory(recordsFolder, 0o700);
  const release = lockFile({ folder: recordsFolder, name });
  try {
    await writeFile(path.join(recordsFolder, name), `${JSON.stringify({ root })}\n`, {
      mode: 0o600,
    });
    return () => release?.();
  } catch (error) {
    release?.();
    throw error;
  }
}

/** Ends the recorded programs of killed processes, and removes their folders. */
export async function endRecordedPrograms(
  recordsFolder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const names = await readdir(recordsFolder).catch(() => []);
  // A process that was killed before it wrote its record left only the lock.
  const recordNames = new Set(names.map(name => name.replace(/\.json\.lock$/u, '.json')));
  for (const name of [...recordNames].filter(name => name.endsWith('.json'))) {
    const killedAt = getLastAliveTime({ folder: recordsFolder, name });
    const release = lockFile({ folder: recordsFolder, name });
    if (release === undefined) continue;

    try {
      await endRecordedProgram(path.join(recordsFolder, name), killedAt, env);
    } finally {
      release();
    }
  }
}

async function endRecordedProgram(
  file: string,
  killedAt: number,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const lines = (await readFile(file, 'utf8').catch(() => ''))
    .split('\n')
    .map(line => parseJson(line));
  const record = Object.assign({}, ...lines.filter(isJsonObject)) as JsonObject;

  const root = findOwnValue(record, 'root');
  const pid = findOwnValue(record, 'pid');
  const began = findOwnValue(record, 'began');
  if (typeof root === 'string' && path.basename(root).startsWith(RUN_FOLDER_PREFIX)) {
    const mark = `${RUN_VARIABLE}=${path.join(root, RUN_FILE)}`;
    const hasStart = typeof pid === 'number' && typeof began === 'number';
    const rootProcess = hasStart ? { pid, began } : undefined;
    await endOrphanedTree({ mark, root: rootProcess, latestKillAt: killedAt }, env);
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }

  await rm(file, { force: true });
}
