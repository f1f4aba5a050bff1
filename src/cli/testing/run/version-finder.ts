import type { Connection, Context } from '../../context.ts';
import { readVersion, resolveTarget } from '../../inputs/target.ts';

/** Finds the versions that targets stand for, each once. */
export class VersionFinder {
  readonly #ctx: Context;
  readonly #connection: Connection;
  readonly #found = new Map<string, Promise<string>>();

  constructor(ctx: Context, connection: Connection) {
    this.#ctx = ctx;
    this.#connection = connection;
  }

  /**
   * @param target an alias, a prompt file, an id or a slug
   * @param model in place of the one the prompt names
   * @throws {CliError} USAGE_ERROR for a model where another service is configured
   */
  find(target: string, model: string | undefined): Promise<string> {
    const key = JSON.stringify([target, model]);
    const found = this.#found.get(key) ?? this.#resolve(target, model);
    this.#found.set(key, found);
    return found;
  }

  async #resolve(target: string, model: string | undefined): Promise<string> {
    const resolved = await resolveTarget(this.#ctx, this.#connection, target, model);
    const { promptVersionId } = resolved.mayBePrompt
      ? await readVersion(this.#ctx, this.#connection, resolved)
      : resolved;
    return promptVersionId;
  }
}
