import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { usageError } from '../errors.ts';
import { oneLine } from '../terminal/sanitise.ts';

/** A prompt file that a target names. */
export interface PromptFile {
  /** As the command line names it, for messages. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** The git revision whose state of the file is meant; the file as it is if undefined. */
  readonly revision: string | undefined;
}

/**
 * Gives the path of a prompt file's content. That of a revision is checked out, with the partials beside it, into a
 * directory that is there for as long as `use` takes.
 *
 * @throws {CliError} USAGE_ERROR for a file or a revision that git does not know
 */
export async function withPromptFile<T>(file: PromptFile, use: (path: string) => Promise<T>): Promise<T> {
  if (file.revision === undefined) return use(file.path);
  const checkout = await mkdtemp(path.join(tmpdir(), 'promptrun-git-'));
  try {
    return await use(await checkOut(file, checkout));
  } catch (error) {
    // What is wrong with it stands in a file that is about to be gone.
    const isInCheckout = error instanceof Error && error.message.startsWith(checkout);
    throw isInCheckout ? usageError(`${file.name}: ${error.message.slice(checkout.length + 1)}`) : error;
  } finally {
    await rm(checkout, { recursive: true, force: true });
  }
}

async function checkOut({ name, path: file, revision }: PromptFile, checkout: string): Promise<string> {
  const own = path.basename(file);
  const git = async (...args: string[]): Promise<string> => {
    try {
      const { stdout } = await promisify(execFile)('git', args, {
        cwd: path.dirname(file),
        maxBuffer: 64 * 1024 * 1024,
      });
      return stdout;
    } catch (error) {
      throw usageError(
        `${name}: ${oneLine(gitMessage(error))}`,
        'Name a file that was committed and a revision of it.',
      );
    }
  };
  // What could be taken for an option is refused by git itself.
  const commit = (await git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`)).trim();
  const names = (await git('ls-tree', '--name-only', '-z', commit, './')).split('\0');
  const partials = names.filter(partial => partial.startsWith('_') && partial.endsWith('.prompt'));
  for (const one of [own, ...partials]) {
    await writeFile(path.join(checkout, path.basename(one)), await git('show', `${commit}:./${one}`));
  }
  return path.join(checkout, own);
}

function gitMessage(error: unknown): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
  return code === 'ENOENT' ? 'git is not installed' : (stderr?.trim().split('\n')[0] ?? message);
}
