import { NotFoundError } from '../../client/errors.ts';
import { isBelow } from '../../files/named-file.ts';
import { createWordMatcher } from '../../utils/word-matcher.ts';
import {
  findLabelFault,
  isUuid,
  type PromptSearchRow,
  type PromptVersion,
} from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { createRowBuffer } from '../outputs/present-pages.ts';
import { unlessNotFound } from '../targets/not-found.ts';
import { findPromptFile, getTargetConnection, resolveTargetAlias } from '../targets/prompt-file.ts';
import { resolvePublishedName } from '../targets/prompt-name.ts';
import { readVersion, resolveTarget } from '../targets/resolve-target.ts';
import { DirectoryPrompts, type OfferedPrompt } from './directory-prompts.ts';

/** A prompt that may be run. */
interface OpenedPrompt {
  readonly connection: Connection;
  readonly version: PromptVersion;
  /** The service's estimate for a run, if there is one. */
  readonly estimatedCredits: unknown;
}

interface OfferOptions {
  /** A directory whose prompt files are also offered. */
  readonly directory: string | undefined;
  /** The allowed prompts, by any name that `run` takes; all if empty. */
  readonly allow: readonly string[];
}

/** The prompts of a session: the allowed ones of the service and of a directory. */
export class SessionPrompts {
  readonly #ctx: Context;
  readonly #options: OfferOptions;
  readonly #directory: DirectoryPrompts | undefined;
  /** The allowed ids of prompts, ids of versions and paths of files; all if undefined. */
  #allowedTargets: ReadonlySet<string> | undefined;
  /** The allowed names with a label, which are looked up at each call, because labels move. */
  readonly #labelledNames: string[] = [];

  private constructor(ctx: Context, options: OfferOptions) {
    this.#ctx = ctx;
    this.#options = options;
    this.#directory =
      options.directory === undefined ? undefined : new DirectoryPrompts(ctx, options.directory);
  }

  /**
   * Opens the prompts of a session.
   *
   * @throws {CliError} if an allowed prompt does not exist, or the directory can't be read
   */
  static async open(ctx: Context, options: OfferOptions): Promise<SessionPrompts> {
    const session = new SessionPrompts(ctx, options);
    await session.#directory?.list();
    if (options.allow.length === 0) return session;

    const allowedTargets = new Set<string>();
    for (const name of options.allow) {
      const { id, labelledName } = await session.#identify(name);
      if (labelledName === undefined) {
        allowedTargets.add(id);
      } else {
        session.#labelledNames.push(labelledName);
      }
    }

    session.#allowedTargets = allowedTargets;
    return session;
  }

  /** Lists the prompts; for a service without a list, the allowed or cached ones. */
  async list(signal: AbortSignal): Promise<OfferedPrompt[]> {
    const { allow } = this.#options;
    if (allow.length > 0) {
      const prompts = await Promise.all(
        allow.map(name => unlessMissing(this.#openAllowedPrompt(name))),
      );
      return prompts.filter(prompt => prompt !== undefined);
    }

    const filePrompts = (await this.#directory?.list()) ?? [];
    const fileNames = new Set(filePrompts.map(({ name }) => name));
    const publishedPrompts = await fetchPublishedPrompts(await this.#ctx.connection(), signal);
    return [...filePrompts, ...publishedPrompts.filter(({ name }) => !fileNames.has(name))];
  }

  /** Returns the prompts that match words, in the service's order, best first. */
  async search(words: string, signal: AbortSignal): Promise<OfferedPrompt[]> {
    if (words === '' || this.#allowedTargets !== undefined) {
      return filterOffers(await this.list(signal), words);
    }

    const { client } = await this.#ctx.connection();
    const { rows } = await client.prompts.search(words, { signal });
    const filePrompts = (await this.#directory?.list()) ?? [];
    return [...filterOffers(filePrompts, words), ...rows.map(toOfferedPrompt)];
  }

  /**
   * Resolves the name of a prompt, as `run` does.
   *
   * @throws {CliError} USAGE_ERROR if it is not allowed, or a file outside the working directory
   */
  async open(name: string): Promise<OpenedPrompt> {
    const target = this.#directory?.listFiles().get(name) ?? name;
    const file = findPromptFile(this.#ctx, target, 'elsewhere');
    if (file !== undefined) this.#requireAllowedFile(name, file.path);

    const connection = await getTargetConnection(this.#ctx, target);
    const resolvedTarget = await resolveTarget(this.#ctx, connection, target, {
      source: 'elsewhere',
    }).catch(withToolForCommand);
    const version = await readVersion(this.#ctx, connection, resolvedTarget);
    if (file === undefined) await this.#requireAllowedVersion(name, version);

    return { connection, version, estimatedCredits: resolvedTarget.estimatedCredits };
  }

  #requireAllowedFile(name: string, file: string): void {
    if (!this.#isAllowed(file)) throw this.#notAllowedError(name);
    const isOffered = this.#allowedTargets !== undefined || this.#directory?.has(file) === true;
    if (!isOffered && !isBelow(this.#ctx.cwd, file)) {
      throw usageError(`${name} lies outside the working directory`);
    }
  }

  async #requireAllowedVersion(
    name: string,
    { promptId, promptVersionId }: PromptVersion,
  ): Promise<void> {
    if (this.#isAllowed(promptId, promptVersionId)) return;
    for (const labelledName of this.#labelledNames) {
      const prompt = await unlessMissing(this.#resolvePublishedName(labelledName));
      if (prompt?.promptVersionId === promptVersionId) return;
    }
    throw this.#notAllowedError(name);
  }

  #isAllowed(...identities: string[]): boolean {
    const allowedTargets = this.#allowedTargets;
    return (
      allowedTargets === undefined || identities.some(identity => allowedTargets.has(identity))
    );
  }

  #notAllowedError(name: string): CliError {
    return usageError(
      `the prompt ${JSON.stringify(name)} is not allowed in this session`,
      `Allowed: ${this.#options.allow.join(', ')}`,
    );
  }

  /**
   * Returns the path of a named file, or the id of a named version or prompt, with the name itself
   * if it has a label.
   */
  async #identify(name: string): Promise<{ readonly id: string; readonly labelledName?: string }> {
    const { signal } = this.#ctx;
    const target = this.#directory?.listFiles().get(name) ?? name;
    const file = findPromptFile(this.#ctx, target, 'elsewhere');
    if (file !== undefined) return { id: file.path };

    const id = resolveTargetAlias(this.#ctx, target);
    if (!isUuid(id)) {
      const { promptId, promptVersionId = promptId } = await this.#resolvePublishedName(id);
      return hasLabel(id) ? { id: promptVersionId, labelledName: id } : { id: promptVersionId };
    }

    const { client } = await this.#ctx.connection();
    const version = await unlessNotFound(client.versions.get(id, { signal }));
    if (version !== undefined) return { id: version.promptVersionId };

    await client.prompts.get(id, { signal });
    return { id };
  }

  async #resolvePublishedName(name: string): ReturnType<typeof resolvePublishedName> {
    return resolvePublishedName(await this.#ctx.connection(), name, this.#ctx.signal);
  }

  async #openAllowedPrompt(name: string): Promise<OfferedPrompt> {
    const { version } = await this.open(name);
    return { name, title: version.title, description: '', config: version.config };
  }
}

/** Rethrows an error, advising the agent's tool instead of the user's command. */
function withToolForCommand(error: unknown): never {
  if (!(error instanceof CliError) || error.status !== 'NOT_FOUND_ERROR') throw error;
  const { message, status, exitCode, data } = error;
  const hints = ['Find prompts with the tool search_prompts.'];
  throw new CliError(message, { status, exitCode, data, hints, cause: error });
}

/** Returns true for `slug@<label>`, false for `slug@<beginning of a version id>`. */
function hasLabel(name: string): boolean {
  const separator = name.lastIndexOf('@');
  return separator > 0 && findLabelFault(name.slice(separator + 1)) === undefined;
}

/**
 * Returns the result of a look-up, or undefined if the prompt is withdrawn or its label removed.
 */
async function unlessMissing<T>(lookUp: Promise<T>): Promise<T | undefined> {
  try {
    return await unlessNotFound(lookUp);
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return undefined;
    throw error;
  }
}

async function fetchPublishedPrompts(
  { client, prompts }: Connection,
  signal: AbortSignal,
): Promise<OfferedPrompt[]> {
  const buffer = createRowBuffer<OfferedPrompt>('prompts');
  try {
    for await (const row of client.prompts.all({}, { signal })) buffer.add([toOfferedPrompt(row)]);
    return [...buffer.rows];
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;

    const slugs = prompts.getSlugs();
    return prompts.listVersions().flatMap(({ promptId, title, config }) => {
      const name = slugs.get(promptId);
      return name === undefined ? [] : [{ name, title, description: '', config }];
    });
  }
}

function toOfferedPrompt({ slug, title, description, configs }: PromptSearchRow): OfferedPrompt {
  return { name: slug, title, description, config: configs };
}

function filterOffers(prompts: readonly OfferedPrompt[], words: string): OfferedPrompt[] {
  const hasWords = createWordMatcher(words);
  return prompts.filter(({ name, title, description }) =>
    hasWords(`${name} ${title} ${description}`),
  );
}
