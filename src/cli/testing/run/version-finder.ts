import path from 'node:path';
import type { Connection, Context } from '../../context.ts';
import type { LocalStore } from '../../core/local-service.ts';
import { aliasOrName, isPromptFile } from '../../inputs/prompt-file.ts';
import { readVersion, resolveTarget } from '../../inputs/target.ts';
import { requireLocalService } from '../../settings/config/address.ts';

/** Finds the versions that targets stand for. Publishes nothing: a prompt file becomes a version that no name leads to. */
export class VersionFinder {
  readonly #ctx: Context;
  readonly #connection: Connection;
  readonly #found = new Map<string, Promise<string>>();
  #store: Promise<LocalStore> | undefined;

  constructor(ctx: Context, connection: Connection) {
    this.#ctx = ctx;
    this.#connection = connection;
  }

  /**
   * @param target an alias, a prompt file, an id or a slug
   * @param model in place of the one the prompt names
   * @throws {CliError} USAGE_ERROR for a file or a model where another service is configured
   */
  find(target: string, model: string | undefined): Promise<string> {
    const key = JSON.stringify([target, model]);
    const found = this.#found.get(key) ?? this.#resolve(target, model);
    this.#found.set(key, found);
    return found;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#found.values());
    await (await this.#store)?.close();
  }

  async #resolve(target: string, model: string | undefined): Promise<string> {
    const name = aliasOrName(this.#ctx, target);
    const withModel = model === undefined ? {} : { model };
    if (await isPromptFile(this.#ctx, name)) {
      this.#requireLocal(`the prompt file ${name}`);
      return this.#unlisted({ file: path.resolve(this.#ctx.cwd, name), ...withModel });
    }
    const resolved = await resolveTarget(this.#ctx, this.#connection, name);
    const { promptVersionId } = resolved.mayBePrompt
      ? await readVersion(this.#ctx, this.#connection, resolved)
      : resolved;
    if (model === undefined) {
      return promptVersionId;
    }
    this.#requireLocal(`the model ${model}`);
    return this.#unlisted({ promptVersionId, model });
  }

  #requireLocal(what: string): void {
    if (!this.#connection.embedded) {
      requireLocalService(this.#ctx, what);
    }
  }

  async #unlisted(wanted: Parameters<LocalStore['ensureUnlistedVersion']>[0]): Promise<string> {
    const { local, dataDir } = this.#ctx;
    this.#store ??= local.open({ dataDir });
    const { promptVersionId } = await (await this.#store).ensureUnlistedVersion(wanted);
    return promptVersionId;
  }
}
