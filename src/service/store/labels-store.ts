import type { Db, Writer } from './writer.ts';

/** Where a label is to lead. */
export interface LabelStep {
  readonly slug: string;
  readonly label: string;
  /** undefined removes it. */
  readonly promptVersionId: string | undefined;
  /** The name of the user. */
  readonly by: string;
  /** In milliseconds. */
  readonly at: number;
}

/** How a step ended: what the label led to before, or what is not there. */
export type LabelResult =
  | { readonly previous: string | null }
  | { readonly missing: 'prompt' | 'version' | 'label' };

/** The labels of prompts and their journal. */
export function labelsStore(db: Db, writer: Writer) {
  return {
    /** Sets, moves or removes a label together with its entry in the journal, of a published prompt only. */
    move: (step: LabelStep): Promise<LabelResult> => writer.write(db => move(db, step)),
    /** The labels of these prompts. */
    of: async (promptIds: readonly string[]) => {
      if (promptIds.length === 0) return [];
      return await db
        .selectFrom('labels')
        .selectAll()
        .where('promptId', 'in', promptIds)
        .orderBy('label')
        .execute();
    },
    /** The journal of a prompt, newest first. */
    moves: (promptId: string) =>
      db
        .selectFrom('labelMoves')
        .selectAll()
        .where('promptId', '=', promptId)
        .orderBy('id', 'desc')
        .execute(),
  };
}

async function move(db: Db, { slug, label, promptVersionId, by, at }: LabelStep): Promise<LabelResult> {
  // Another step of the same prompt waits here until this one is done.
  const prompt = await db
    .updateTable('prompts')
    .set(({ ref }) => ({ slug: ref('slug') }))
    .where('slug', '=', slug)
    .where('latestVersionId', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  if (!prompt) return { missing: 'prompt' };
  const promptId = prompt.id;
  if (promptVersionId !== undefined && !(await isVersionOf(db, promptId, promptVersionId))) {
    return { missing: 'version' };
  }
  const former = await db
    .selectFrom('labels')
    .select('promptVersionId')
    .where('promptId', '=', promptId)
    .where('label', '=', label)
    .executeTakeFirst();
  if (!former && promptVersionId === undefined) return { missing: 'label' };
  const previous = former?.promptVersionId ?? null;
  if (previous === promptVersionId) return { previous };
  await (promptVersionId === undefined
    ? db.deleteFrom('labels').where('promptId', '=', promptId).where('label', '=', label).execute()
    : db
        .insertInto('labels')
        .values({ promptId, label, promptVersionId })
        .onConflict(conflict => conflict.columns(['promptId', 'label']).doUpdateSet({ promptVersionId }))
        .execute());
  const versions = { fromVersionId: previous, toVersionId: promptVersionId ?? null };
  await db
    .insertInto('labelMoves')
    .values({ promptId, label, ...versions, movedAt: at, movedBy: by })
    .execute();
  return { previous };
}

async function isVersionOf(db: Db, promptId: string, id: string): Promise<boolean> {
  const version = await db
    .selectFrom('promptVersions')
    .select('id')
    .where('id', '=', id)
    .where('promptId', '=', promptId)
    .where('unlisted', '=', 0)
    .executeTakeFirst();
  return version !== undefined;
}
