import type { Db, Writer } from './writer.ts';

export interface LabelChange {
  readonly slug: string;
  readonly label: string;
  /** The version that gets the label; undefined to remove the label. */
  readonly promptVersionId: string | undefined;
  /** The name of the user who moves it. */
  readonly userName: string;
  /** The time of the move, in milliseconds. */
  readonly movedAt: number;
}

/** The former version of the label, or what is missing for the change. */
export type LabelResult =
  | { readonly previous: string | null }
  | { readonly missing: 'prompt' | 'version' | 'label' };

/** Returns the store of prompts' labels and their moves. */
export function createLabelsStore(db: Db, writer: Writer) {
  return {
    /**
     * Sets, moves or removes a label of a published prompt, and journals it in the same
     * transaction.
     */
    move: (change: LabelChange): Promise<LabelResult> =>
      writer.write(trx => applyLabelChange(trx, change)),
    listForPrompts: async (promptIds: readonly string[]) => {
      if (promptIds.length === 0) return [];
      return await db
        .selectFrom('labels')
        .selectAll()
        .where('promptId', 'in', promptIds)
        .orderBy('label')
        .execute();
    },
    /** Returns the journal of a prompt's labels, newest first. */
    listMoves: (promptId: string) =>
      db
        .selectFrom('labelMoves')
        .selectAll()
        .where('promptId', '=', promptId)
        .orderBy('id', 'desc')
        .execute(),
  };
}

async function applyLabelChange(
  db: Db,
  { slug, label, promptVersionId, userName, movedAt }: LabelChange,
): Promise<LabelResult> {
  // Locks the prompt, so that changes of its labels happen one after the other.
  const prompt = await db
    .updateTable('prompts')
    .set(({ ref }) => ({ slug: ref('slug') }))
    .where('slug', '=', slug)
    .where('latestVersionId', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  if (!prompt) return { missing: 'prompt' };

  const promptId = prompt.id;
  if (promptVersionId !== undefined && !(await hasVersion(db, promptId, promptVersionId))) {
    return { missing: 'version' };
  }

  const existingLabel = await db
    .selectFrom('labels')
    .select('promptVersionId')
    .where('promptId', '=', promptId)
    .where('label', '=', label)
    .executeTakeFirst();
  if (!existingLabel && promptVersionId === undefined) return { missing: 'label' };

  const previous = existingLabel?.promptVersionId ?? null;
  if (previous === promptVersionId) return { previous };

  if (promptVersionId === undefined) {
    const labels = db.deleteFrom('labels').where('promptId', '=', promptId);
    await labels.where('label', '=', label).execute();
  } else {
    await db
      .insertInto('labels')
      .values({ promptId, label, promptVersionId })
      .onConflict(conflict =>
        conflict.columns(['promptId', 'label']).doUpdateSet({ promptVersionId }),
      )
      .execute();
  }

  const versions = { fromVersionId: previous, toVersionId: promptVersionId ?? null };
  await db
    .insertInto('labelMoves')
    .values({ promptId, label, ...versions, movedAt, movedBy: userName })
    .execute();
  return { previous };
}

async function hasVersion(db: Db, promptId: string, id: string): Promise<boolean> {
  const version = await db
    .selectFrom('promptVersions')
    .select('id')
    .where('id', '=', id)
    .where('promptId', '=', promptId)
    .where('unlisted', '=', 0)
    .executeTakeFirst();
  return version !== undefined;
}
