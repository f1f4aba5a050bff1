import { MAX_VERSIONS } from '../../wire/index.ts';
import type { RunWrites } from './runs/run-records.ts';
import type { Tables } from './tables.ts';
import type { Db, Writer } from './writer.ts';

/**
 * A version. `parsed` is JSON that only its writer understands; null in versions of older releases.
 */
export type StoredVersion = NonNullable<Awaited<ReturnType<PromptsStore['findVersion']>>>;
export type PublishedRow = Awaited<ReturnType<PromptsStore['listPublished']>>[number];

export type NewVersion = Omit<Tables['promptVersions'], 'parsed' | 'publishedAt' | 'unlisted'> & {
  slug: string;
  parsed: string;
};

const VERSION_COLUMNS = [
  'promptVersions.id',
  'promptVersions.promptId',
  'prompts.slug',
  'promptVersions.title',
  'promptVersions.model',
  'promptVersions.source',
  'promptVersions.parsed',
  'promptVersions.publishedAt',
] as const;

/** Prompts and their versions. Only `findVersionOfRun` finds versions of withdrawn prompts. */
export class PromptsStore {
  readonly #db: Db;
  readonly #writer: Writer;
  readonly #runWrites: Pick<RunWrites, 'countPendingUses'> | undefined;

  constructor(db: Db, writer: Writer, runWrites?: Pick<RunWrites, 'countPendingUses'>) {
    this.#db = db;
    this.#writer = writer;
    this.#runWrites = runWrites;
  }

  /** Returns the columns that the creation of a run needs, of a published or unlisted version. */
  findRunnable(id: string) {
    return selectRunnableVersion(this.#db, id)
      .select(['promptVersions.id', 'promptVersions.promptId', 'promptVersions.title'])
      .executeTakeFirst();
  }

  /** Returns a published or unlisted version. */
  findVersion(id: string) {
    return selectRunnableVersion(this.#db, id).select(VERSION_COLUMNS).executeTakeFirst();
  }

  /**
   * Returns a version even if its prompt is withdrawn, because runs of it may still be queued.
   */
  findVersionOfRun(id: string) {
    return selectVersions(this.#db)
      .select(VERSION_COLUMNS)
      .where('promptVersions.id', '=', id)
      .executeTakeFirst();
  }

  findLatest(promptId: string) {
    return selectPublished(this.#db)
      .select(VERSION_COLUMNS)
      .where('prompts.id', '=', promptId)
      .whereRef('promptVersions.id', '=', 'prompts.latestVersionId')
      .executeTakeFirst();
  }

  /** Returns the listed versions, newest first, at most 10. */
  listVersions(promptId: string) {
    return selectPublished(this.#db)
      .select(VERSION_COLUMNS)
      .where('promptVersions.promptId', '=', promptId)
      .where('promptVersions.unlisted', '=', 0)
      .orderBy('promptVersions.publishedAt', 'desc')
      .limit(MAX_VERSIONS)
      .execute();
  }

  /** Returns the latest version of every published prompt, for the search. */
  async listPublished() {
    const prompts = await selectPublished(this.#db)
      .select([
        'promptVersions.id',
        'promptVersions.promptId',
        'prompts.slug',
        'title',
        'description',
        'model',
        'publishedAt',
        'uses',
      ])
      .whereRef('promptVersions.id', '=', 'prompts.latestVersionId')
      .execute();
    return prompts.map(prompt => {
      const pendingUses = this.#runWrites?.countPendingUses(prompt.promptId) ?? 0;
      return { ...prompt, uses: prompt.uses + pendingUses };
    });
  }

  /** Makes the version the latest of its prompt; returns false if it is already. */
  publish(version: NewVersion, now: number) {
    return this.#writer.write(trx => publish(trx, version, now));
  }

  /**
   * Stores a version that can be run by id but is never the latest. Does nothing if it exists.
   */
  ensureUnlisted(version: NewVersion, now: number) {
    return this.#writer.write(trx => ensureUnlisted(trx, version, now));
  }

  /** Returns false if the published prompt doesn't exist. */
  async unpublish(slug: string) {
    const withdrawn = await this.#writer.write(trx =>
      trx
        .updateTable('prompts')
        .set({ latestVersionId: null })
        .where('slug', '=', slug)
        .where('latestVersionId', 'is not', null)
        .executeTakeFirst(),
    );
    return withdrawn.numUpdatedRows > 0n;
  }
}

function selectVersions(db: Db) {
  return db
    .selectFrom('promptVersions')
    .innerJoin('prompts', 'prompts.id', 'promptVersions.promptId');
}

/** Selects a version that can be run: its prompt is published, or it is unlisted. */
export function selectRunnableVersion(db: Db, id: string) {
  return selectVersions(db)
    .where('promptVersions.id', '=', id)
    .where(({ or, eb }) =>
      or([eb('prompts.latestVersionId', 'is not', null), eb('promptVersions.unlisted', '=', 1)]),
    );
}

function selectPublished(db: Db) {
  return selectVersions(db).where('prompts.latestVersionId', 'is not', null);
}

async function publish(db: Db, version: NewVersion, now: number): Promise<boolean> {
  const { slug, ...row } = version;
  const { id, promptId } = row;
  const prompt = await db
    .selectFrom('prompts')
    .selectAll()
    .where('id', '=', promptId)
    .executeTakeFirst();
  if (prompt?.latestVersionId === id) return false;

  const publishedAt = await computePublicationTime(db, promptId, now);
  await ensurePrompt(db, { id: promptId, slug });
  await db.updateTable('prompts').set({ latestVersionId: id }).where('id', '=', promptId).execute();
  await db
    .insertInto('promptVersions')
    .values({ ...row, publishedAt })
    .onConflict(conflict => conflict.column('id').doUpdateSet({ publishedAt, parsed: row.parsed }))
    .execute();

  return true;
}

async function ensureUnlisted(db: Db, { slug, ...row }: NewVersion, now: number): Promise<void> {
  await ensurePrompt(db, { id: row.promptId, slug });
  await db
    .insertInto('promptVersions')
    .values({ ...row, publishedAt: now, unlisted: 1 })
    .onConflict(conflict => conflict.column('id').doNothing())
    .execute();
}

/**
 * Stores a prompt without a published version. Does nothing if the prompt exists, or another
 * instance is storing it: PostgreSQL would report a conflict of the slug if only the id were named.
 */
async function ensurePrompt(
  db: Db,
  { id, slug }: Pick<Tables['prompts'], 'id' | 'slug'>,
): Promise<void> {
  await db
    .insertInto('prompts')
    .values({ id, slug, latestVersionId: null, uses: 0 })
    .onConflict(conflict => conflict.doNothing())
    .execute();
}

/**
 * Returns a time later than that of every earlier version, even if the clock stood still or went
 * back.
 */
async function computePublicationTime(db: Db, promptId: string, now: number): Promise<number> {
  const { last } = await db
    .selectFrom('promptVersions')
    .select(({ fn }) => fn.max('publishedAt').as('last'))
    .where('promptId', '=', promptId)
    .executeTakeFirstOrThrow();
  return Math.max(now, (last ?? 0) + 1);
}
