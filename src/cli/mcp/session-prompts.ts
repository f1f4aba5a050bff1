import { readdirSync } from 'node:fs';
import path from 'node:path';
import { NotFoundError } from '../../client/errors.ts';
import { messageOf } from '../../files/error-utils.ts';
import { isBelow, whyLeftOut } from '../../files/named-file.ts';
import { isUuid, type PromptSearchRow, type PromptVersion } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { heldRows } from '../outputs/present-pages.ts';
import { aliasOrName, connectionFor, promptFileOf, versionOfFile } from '../targets/prompt-file.ts';
import { findByName, unlessNotFound } from '../targets/prompt-name.ts';
import { readVersion, resolveTarget } from '../targets/target.ts';
import { oneLine } from '../terminal/sanitise.ts';

/** A prompt as an agent sees it. */
export interface OfferedPrompt {
  /** The name of the prompt in a call. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly config: unknown;
}

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

const EXTENSION = /\.prompt(?:\.ya?ml)?$/u;

/** The prompts of a session: the allowed ones of the service and of a directory. */
export class SessionPrompts {
  readonly #ctx: Context;
  readonly #options: OfferOptions;
  /** The allowed ids of prompts, ids of versions and paths of files; all if undefined. */
  #allowed: ReadonlySet<string> | undefined;
  /** The unusable files of the directory that were reported, so that each is reported once. */
  readonly #leftOut = new Set<string>();

  private constructor(ctx: Context, options: OfferOptions) {
    this.#ctx = ctx;
    this.#options = options;
  }

  /** Opens the offer. @throws {CliError} if an allowed prompt does not exist, or the directory can't be read */
  static async open(ctx: Context, options: OfferOptions): Promise<SessionPrompts> {
    const offer = new SessionPrompts(ctx, options);
    await offer.#fromDirectory();
    if (options.allow.length === 0) return offer;
    const allowed = new Set<string>();
    for (const name of options.allow) allowed.add(await offer.#identify(name));
    offer.#allowed = allowed;
    return offer;
  }

  /** Lists the prompts; for a service without a list, the allowed or cached ones. */
  async list(signal: AbortSignal): Promise<OfferedPrompt[]> {
    const { allow } = this.#options;
    if (allow.length > 0) return Promise.all(allow.map(name => this.#allowedPrompt(name)));
    const own = await this.#fromDirectory();
    const others = await publishedPrompts(await this.#ctx.connection(), signal);
    return [...own, ...others.filter(({ name }) => !own.some(prompt => prompt.name === name))];
  }

  /** Returns the prompts that match words, in the service's order, best first. */
  async search(words: string, signal: AbortSignal): Promise<OfferedPrompt[]> {
    if (words === '' || this.#allowed !== undefined) return matchingPrompts(await this.list(signal), words);
    const { client } = await this.#ctx.connection();
    const { rows } = await client.prompts.search(words, { signal });
    return [...matchingPrompts(await this.#fromDirectory(), words), ...rows.map(offeredRow)];
  }

  /**
   * Resolves the name of a prompt, as `run` does.
   *
   * @throws {CliError} USAGE_ERROR if it is not allowed, or a file outside the working directory
   */
  async open(name: string): Promise<OpenedPrompt> {
    const target = this.#files().get(name) ?? name;
    const file = promptFileOf(this.#ctx, target, 'elsewhere');
    if (file !== undefined) this.#checkFile(name, file.path);
    const connection = await connectionFor(this.#ctx, target);
    const resolved = await resolveTarget(this.#ctx, connection, target, { source: 'elsewhere' });
    const version = await readVersion(this.#ctx, connection, resolved);
    if (file === undefined) this.#checkAllowed(name, version.promptId, version.promptVersionId);
    return { connection, version, estimatedCredits: resolved.estimatedCredits };
  }

  #checkFile(name: string, file: string): void {
    this.#checkAllowed(name, file);
    const isOffered = this.#allowed !== undefined || [...this.#files().values()].includes(file);
    if (isOffered || isBelow(this.#ctx.cwd, file)) return;
    throw usageError(`${name} lies outside the working directory`);
  }

  #checkAllowed(name: string, ...identities: string[]): void {
    const allowed = this.#allowed;
    if (allowed === undefined || identities.some(identity => allowed.has(identity))) return;
    throw usageError(
      `the prompt ${JSON.stringify(name)} is not allowed in this session`,
      `Allowed: ${this.#options.allow.join(', ')}`,
    );
  }

  /** Returns the path of a named file, or the id of a named version or prompt. */
  async #identify(name: string): Promise<string> {
    const { signal } = this.#ctx;
    const target = this.#files().get(name) ?? name;
    const file = promptFileOf(this.#ctx, target, 'elsewhere');
    if (file !== undefined) return file.path;
    const id = aliasOrName(this.#ctx, target);
    const connection = await this.#ctx.connection();
    if (!isUuid(id)) {
      const { promptId, promptVersionId = promptId } = await findByName(connection, id, signal);
      return promptVersionId;
    }
    const version = await unlessNotFound(connection.client.versions.get(id, { signal }));
    if (version !== undefined) return version.promptVersionId;
    await connection.client.prompts.get(id, { signal });
    return id;
  }

  async #allowedPrompt(name: string): Promise<OfferedPrompt> {
    const { version } = await this.open(name);
    return { name, title: version.title, description: '', config: version.config };
  }

  /** Returns the prompt files of the directory by name; reads the directory each time. */
  #files(): Map<string, string> {
    const { directory } = this.#options;
    if (directory === undefined) return new Map();
    const names = readdirSync(directory).toSorted();
    return new Map(
      names.flatMap(name => {
        const slug = name.replace(EXTENSION, '');
        const isPrompt = slug !== name && slug !== '' && !name.startsWith('_');
        const file = path.join(directory, name);
        return !isPrompt || this.#isLeftOut(file, directory) ? [] : [[slug, file] as const];
      }),
    );
  }

  #isLeftOut(file: string, directory: string): boolean {
    const reason = whyLeftOut(file, directory);
    if (reason !== undefined && !this.#leftOut.has(file)) {
      this.#leftOut.add(file);
      this.#ctx.io.error(`warning: ${oneLine(file)} is left out: ${oneLine(reason)}`);
    }
    return reason !== undefined;
  }

  async #fromDirectory(): Promise<OfferedPrompt[]> {
    const prompts = await Promise.all([...this.#files()].map(([name, file]) => this.#fromFile(name, file)));
    return prompts.filter(prompt => prompt !== undefined);
  }

  /** Reads a prompt file. Reports an unusable one on standard error and returns undefined. */
  async #fromFile(name: string, file: string): Promise<OfferedPrompt | undefined> {
    const { signal, io } = this.#ctx;
    try {
      const { client } = await this.#ctx.localConnection();
      const { promptVersionId } = await versionOfFile(this.#ctx, {
        name: file,
        path: file,
        revision: undefined,
      });
      const { title, config } = await client.versions.get(promptVersionId, { signal });
      return { name, title, description: '', config };
    } catch (error) {
      signal.throwIfAborted();
      io.error(`warning: ${oneLine(messageOf(error))}`);
      return undefined;
    }
  }
}

async function publishedPrompts(
  { client, prompts }: Connection,
  signal: AbortSignal,
): Promise<OfferedPrompt[]> {
  const held = heldRows<OfferedPrompt>('prompts');
  try {
    for await (const row of client.prompts.all({}, { signal })) held.add([offeredRow(row)]);
    return [...held.rows];
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const slugs = prompts.slugs();
    return prompts.all().flatMap(({ promptId, title, config }) => {
      const name = slugs.get(promptId);
      return name === undefined ? [] : [{ name, title, description: '', config }];
    });
  }
}

function offeredRow({ slug, title, description, configs }: PromptSearchRow): OfferedPrompt {
  return { name: slug, title, description, config: configs };
}

function matchingPrompts(prompts: readonly OfferedPrompt[], words: string): OfferedPrompt[] {
  const wanted = words.toLowerCase().split(/\s+/u);
  return prompts.filter(({ name, title, description }) => {
    const text = `${name} ${title} ${description}`.toLowerCase();
    return wanted.every(word => text.includes(word));
  });
}
