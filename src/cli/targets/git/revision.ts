import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { findProgram, isBatchFile } from '../../../processes/find-program.ts';
import { withoutKeys } from '../../../processes/program-environment.ts';
import type { Env } from '../../../utils/env.ts';
import { getErrorCode, getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { NamedPromptFile } from '../prompt-file.ts';
import { findRepository } from './repository.ts';

/** Time limit of one call of git, in milliseconds. */
const GIT_TIMEOUT_MS = 30_000;

/** Maximum number of partials in a file's folder. */
const MAX_PARTIALS = 1000;

/** Maximum total size of a file and its partials, in bytes. */
const MAX_REVISION_BYTES = 64 * 1024 * 1024;

/** Git's file mode of a link. */
const LINK_MODE = '120000';

/** Matches a file in the output of `git ls-tree`: `100644 blob 1f3a…<tab>prompts/a.prompt`. */
const TREE_LINE = /^(?<mode>\d+) blob (?<blobId>[0-9a-f]+)\t(?<filePath>[^]*)$/u;

/**
 * Calls `use` with the path of a prompt file's content. A revision is checked out, with the
 * partials of its folder, into a directory that is removed after `use`.
 *
 * @throws {CliError} USAGE_ERROR for a file or a revision that git does not know, and for a
 * repository that must not be used
 */
export async function withPromptFile<T>(
  ctx: Context,
  file: NamedPromptFile,
  use: (path: string) => Promise<T>,
): Promise<T> {
  if (file.revision === undefined) return use(file.path);

  const checkout = await mkdtemp(path.join(tmpdir(), 'promptrun-git-'));
  try {
    return await use(await checkOut(ctx, file, file.revision, checkout));
  } catch (error) {
    // The message would name a file that is about to be removed.
    const isInCheckout = error instanceof Error && error.message.startsWith(checkout);
    throw isInCheckout
      ? usageError(`${file.name}: ${error.message.slice(checkout.length + 1)}`)
      : error;
  } finally {
    await rm(checkout, { recursive: true, force: true });
  }
}

/** Returns true if git knows a revision in the repository of a file. */
export async function isRevision(ctx: Context, file: string, revision: string): Promise<boolean> {
  try {
    const { rootPath } = findRepository(file, ctx.env);
    await resolveCommit(
      createGit(rootPath, await buildGitEnvironment(ctx, rootPath), ctx.signal),
      revision,
    );
    return true;
  } catch {
    return false;
  }
}

type RunGit = (args: readonly string[], maxBytes?: number) => Promise<Buffer>;

async function checkOut(
  ctx: Context,
  { name, path: promptPath }: NamedPromptFile,
  revision: string,
  checkout: string,
): Promise<string> {
  try {
    const { rootPath, relativePath } = findRepository(promptPath, ctx.env);
    const git = createGit(rootPath, await buildGitEnvironment(ctx, rootPath), ctx.signal);
    const commit = await resolveCommit(git, revision);

    const promptName = path.posix.basename(relativePath);
    const siblings = await listSiblingFiles(git, commit, relativePath);
    let remainingBytes = MAX_REVISION_BYTES;
    for (const { fileName, blobId } of listFilesToCheckOut(siblings, promptName)) {
      const content = await git(['cat-file', 'blob', blobId], remainingBytes);
      remainingBytes -= content.length;
      await writeFile(path.join(checkout, fileName), content);
    }

    return path.join(checkout, promptName);
  } catch (error) {
    ctx.signal.throwIfAborted();
    const hints =
      error instanceof CliError
        ? error.hints
        : ['Name a file that was committed and a revision of it.'];
    throw usageError(`${name}: ${toOneLine(getErrorMessage(error))}`, ...hints);
  }
}

async function resolveCommit(git: RunGit, revision: string): Promise<string> {
  // Older versions of git lack `--end-of-options`.
  if (revision.startsWith('-')) throw new Error(`${JSON.stringify(revision)} is not a revision`);

  const commit = String(await git(['rev-parse', '--verify', `${revision}^{commit}`])).trim();
  if (!/^[0-9a-f]{40,64}$/u.test(commit)) {
    throw new Error(`${JSON.stringify(revision)} is not a revision`);
  }

  return commit;
}

interface CommittedFile {
  readonly fileName: string;
  readonly mode: string;
  readonly blobId: string;
}

/** Returns the files of a commit in the folder of one of them, by name. */
async function listSiblingFiles(
  git: RunGit,
  commit: string,
  file: string,
): Promise<Map<string, CommittedFile>> {
  const folder = path.posix.dirname(file);
  const paths = folder === '.' ? [] : [`${folder}/`];
  const listing = String(await git(['ls-tree', '-z', '--full-tree', '--', commit, ...paths]));

  return new Map(
    listing.split('\0').flatMap(line => {
      const { mode, blobId, filePath } = TREE_LINE.exec(line)?.groups ?? {};
      if (mode === undefined || blobId === undefined || filePath === undefined) return [];
      const fileName = path.posix.basename(filePath);
      return [[fileName, { fileName, mode, blobId }] as const];
    }),
  );
}

/**
 * Returns the prompt file and the partials in its folder.
 *
 * @throws {Error} if the prompt file doesn't exist or is a link, or it has too many partials
 */
function listFilesToCheckOut(
  files: ReadonlyMap<string, CommittedFile>,
  promptName: string,
): CommittedFile[] {
  const promptFile = files.get(promptName);
  if (promptFile === undefined) throw new Error(`${promptName} is not in that revision`);
  if (promptFile.mode === LINK_MODE) throw new Error(`${promptName} is a link in that revision`);

  const partials = [...files.values()].filter(
    ({ fileName, mode }) =>
      mode !== LINK_MODE && fileName !== promptName && /^_[^\\]*\.prompt$/u.test(fileName),
  );
  if (partials.length > MAX_PARTIALS) {
    throw new Error(`it has more than ${MAX_PARTIALS} partials next to it`);
  }

  return [promptFile, ...partials];
}

/**
 * Settings that keep git from starting or fetching anything that a repository configures. Older
 * versions ignore some.
 */
const INERT_SETTINGS = [
  '--no-pager',
  '-c',
  'safe.bareRepository=explicit',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
];

/** Returns a function that runs git in a repository and returns its output. */
function createGit(rootPath: string, env: Record<string, string>, signal: AbortSignal): RunGit {
  const program = findProgram('git', env);
  if (program === undefined) throw new Error('git is not installed');
  if (isBatchFile(program)) throw new Error(`${program} is a batch file, not git itself`);

  return async (args, maxBytes = MAX_REVISION_BYTES) => {
    const options = {
      cwd: rootPath,
      env,
      signal,
      timeout: GIT_TIMEOUT_MS,
      killSignal: 'SIGKILL',
      windowsHide: true,
    } as const;
    try {
      const { stdout } = await promisify(execFile)(program, [...INERT_SETTINGS, ...args], {
        ...options,
        encoding: 'buffer',
        maxBuffer: maxBytes,
      });
      return stdout;
    } catch (error) {
      throw toGitError(error);
    }
  };
}

/**
 * The variables that locate or extend the user's own git configuration. Any other GIT_ variable
 * could redirect git.
 */
const KEPT_GIT_VARIABLE = /^GIT_CONFIG_(?:NOSYSTEM|GLOBAL|SYSTEM|COUNT|KEY_\d+|VALUE_\d+)$/u;

async function buildGitEnvironment(
  ctx: Context,
  rootPath: string,
): Promise<Record<string, string>> {
  const { collectKeyVariables } = await import('../../../models/catalogue/provider-keys.ts');
  const harmlessVariables: Env = Object.fromEntries(
    Object.entries(ctx.env).filter(([name]) => {
      const upperName = name.toUpperCase();
      return !upperName.startsWith('GIT_') || KEPT_GIT_VARIABLE.test(upperName);
    }),
  );

  return {
    ...withoutKeys(harmlessVariables, await collectKeyVariables(ctx)),
    // A repository's configuration can override protocol.allow, but not this.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_CEILING_DIRECTORIES: path.dirname(rootPath),
    LC_ALL: 'C',
  };
}

function toGitError(error: unknown): Error {
  const { stderr, message, killed } = error as {
    stderr?: Buffer;
    message: string;
    killed?: boolean;
  };

  if (getErrorCode(error) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return usageError(
      `the file and the partials beside it are larger than ${MAX_REVISION_BYTES / 1024 / 1024} MiB in that revision`,
    );
  }

  if (killed === true) return usageError(`git took more than ${GIT_TIMEOUT_MS / 1000} s`);

  const errorText = String(stderr ?? '').trim();
  if (errorText.includes("' not allowed") || errorText.includes('lazy fetching disabled')) {
    return usageError(
      'this clone does not have that revision of the file, and git is not allowed to fetch it',
      'Fetch it first, such as with: git fetch --refetch --no-filter',
    );
  }

  if (errorText.endsWith('Needed a single revision')) {
    return new Error('the revision does not exist');
  }

  return new Error(errorText.split('\n')[0] || message);
}
