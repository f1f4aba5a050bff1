import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endLeftTree, type TreeRoot } from '../../files/bounds/process-tree.ts';
import { ownValue, parseJson } from '../../files/json.ts';
import { lastAlive, lockFile } from '../../files/lock.ts';
import { makeDirectory } from '../../files/write-below.ts';

/** The variable that names the file about the run. What a program starts has it too, by which it is found. */
export const RUN_VARIABLE = 'PROMPTRUN_RUN';

const PREFIX = 'promptrun-run-';
const RUN_FILE = 'run.json';

/** What a program has on disk while it runs. */
export interface RunFolder {
  /** The file that `PROMPTRUN_RUN` names. */
  readonly file: string;
  /** The folder for its pictures, in which it starts if its entry says so. */
  readonly folder: string;
  /** Writes down which process it is that runs, so that a later one ends what it leaves. */
  started(program: TreeRoot): Promise<void>;
  /** Removes all of it. */
  remove(): Promise<void>;
}

/**
 * Makes the folder of a run. If this process is killed, a later one finds it and removes it.
 *
 * @param records the folder in which running programs are written down
 */
export async function makeRunFolder(records: string, about: object): Promise<RunFolder> {
  const root = await mkdtemp(path.join(tmpdir(), PREFIX));
  const name = `${randomUUID()}.json`;
  const release = await record(records, name, root);
  const remove = async (): Promise<void> => {
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
    await rm(path.join(records, name), { force: true });
    release();
  };
  try {
    const [file, folder] = [path.join(root, RUN_FILE), path.join(root, 'folder')];
    await writeFile(file, JSON.stringify(about), { mode: 0o600 });
    await mkdir(folder, { mode: 0o700 });
    const started = async (program: TreeRoot): Promise<void> =>
      await writeFile(path.join(records, name), JSON.stringify({ root, ...program }));
    return { file, folder, started, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Locks the record before it is there, so that nobody takes this process for dead. */
async function record(records: string, name: string, root: string): Promise<() => void> {
  try {
    makeDirectory(records, 0o700);
    const release = lockFile({ folder: records, name });
    await writeFile(path.join(records, name), JSON.stringify({ root }), { mode: 0o600 });
    return () => release?.();
  } catch (error) {
    await rm(root, { recursive: true, force: true });
    throw error;
  }
}

/** Ends the programs that are recorded and whose processes were killed, and removes their folders. */
export async function endRecorded(
  records: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const names = await readdir(records).catch(() => []);
  for (const name of names.filter(name => name.endsWith('.json'))) {
    const killed = lastAlive({ folder: records, name });
    const release = lockFile({ folder: records, name });
    if (release === undefined) continue;
    try {
      await endLeft(path.join(records, name), killed, env);
    } finally {
      release();
    }
  }
}

async function endLeft(
  file: string,
  killed: number,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const record = parseJson(await readFile(file, 'utf8').catch(() => ''));
  const [root, pid, began] = ['root', 'pid', 'began'].map(key => ownValue(record, key));
  if (typeof root === 'string' && path.basename(root).startsWith(PREFIX)) {
    const mark = `${RUN_VARIABLE}=${path.join(root, RUN_FILE)}`;
    const isKnown = typeof pid === 'number' && typeof began === 'number';
    await endLeftTree({ mark, root: isKnown ? { pid, began } : undefined, killed }, env);
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
  await rm(file, { force: true });
}
