import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Connection, Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { readVersion } from '../../inputs/target.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { VersionFinder } from '../run/version-finder.ts';

/** One side of a comparison: a version, with the model it is run with. */
export interface Variant {
  /** As the command line names it, such as `haiku.prompt [llama]`. */
  readonly name: string;
  readonly promptVersionId: string;
  /** In place of the prompt's own; undefined where that is used. */
  readonly model: string | undefined;
  /** What the version's config says of its inputs. */
  readonly config: unknown;
}

/**
 * The variants that targets and models make: every target with every model. `file@git:<revision>` is the prompt file,
 * with its partials, as it was then.
 *
 * @throws {CliError} USAGE_ERROR for fewer than two
 */
export async function variantsOf(
  ctx: Context,
  connection: Connection,
  targets: readonly string[],
  models: readonly string[],
): Promise<Variant[]> {
  const wanted = targets.flatMap(target =>
    (models.length === 0 ? [undefined] : models).map(model => ({ target, model })),
  );
  if (wanted.length < 2) {
    throw usageError(
      'a comparison needs two sides',
      'Name another target, file@git:<revision>, or models with -m a,b.',
    );
  }
  const versions = new VersionFinder(ctx, connection);
  const checkouts: string[] = [];
  try {
    const variants: Variant[] = [];
    for (const { target, model } of wanted) {
      const promptVersionId = await versions.find(await located(ctx, target, checkouts), model);
      const { config } = await readVersion(ctx, connection, { promptVersionId, mayBePrompt: false });
      const name = model === undefined ? target : `${target} [${model}]`;
      variants.push({ name, promptVersionId, model, config });
    }
    return variants;
  } finally {
    await versions.close();
    await Promise.all(checkouts.map(directory => rm(directory, { recursive: true, force: true })));
  }
}

/** Stands between a file and its revision. */
const GIT = '@git:';

/** The target, or the file that `file@git:<revision>` is checked out to. */
async function located(ctx: Context, target: string, checkouts: string[]): Promise<string> {
  const at = target.lastIndexOf(GIT);
  const file = target.slice(0, Math.max(0, at));
  const revision = target.slice(at + GIT.length);
  if (!file.endsWith('.prompt') || revision === '') {
    return target;
  }
  const checkout = await mkdtemp(path.join(tmpdir(), 'promptrun-git-'));
  checkouts.push(checkout);
  return checkOut(path.resolve(ctx.cwd, file), revision, { target, checkout });
}

async function checkOut(
  file: string,
  revision: string,
  { target, checkout }: { target: string; checkout: string },
): Promise<string> {
  const directory = path.dirname(file);
  const own = path.basename(file);
  const git = async (...args: string[]): Promise<string> => {
    try {
      const { stdout } = await promisify(execFile)('git', args, {
        cwd: directory,
        maxBuffer: 64 * 1024 * 1024,
      });
      return stdout;
    } catch (error) {
      throw usageError(
        `${target}: ${oneLine(gitMessage(error))}`,
        'Name a file that was committed and a revision of it.',
      );
    }
  };
  // What could be taken for an option is refused by git itself.
  const commit = (await git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`)).trim();
  const names = (await git('ls-tree', '--name-only', '-z', commit, './')).split('\0');
  const partials = names.filter(name => name.startsWith('_') && name.endsWith('.prompt'));
  for (const name of [own, ...partials]) {
    await writeFile(path.join(checkout, path.basename(name)), await git('show', `${commit}:./${name}`));
  }
  return path.join(checkout, own);
}

function gitMessage(error: unknown): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
  return code === 'ENOENT' ? 'git is not installed' : (stderr?.trim().split('\n')[0] ?? message);
}
