import { type ImageInput, isUuid } from '../../wire/index.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import type { CreateRun } from '../schemas/runs.ts';
import type { Services } from '../services.ts';
import type { StoredRun } from '../store/run-records.ts';
import type { Store } from '../store/store.ts';
import { settleDeadCommands } from './dead-workers.ts';
import { outcomeOf } from './run-work.ts';

/** A run of a user as it is now: where the command that carried it out has died, it has failed. */
export async function findRun(store: Store, userId: number, id: string): Promise<StoredRun | undefined> {
  const run = await store.runs.find(userId, id);
  if (!run || outcomeOf(run)) return run;
  await settleDeadCommands(store);
  return await store.runs.find(userId, id);
}

/** The same. @throws {ApiError} NOT_FOUND_ERROR where the user has no such run */
export async function requireRun(store: Store, userId: number, runId: string): Promise<StoredRun> {
  const id = runId.toLowerCase();
  const run = isUuid(id) ? await findRun(store, userId, id) : undefined;
  if (!run) throw notFound('there is no such run');
  return run;
}

/**
 * The body that created a run.
 *
 * @throws {ApiError} NOT_FOUND_ERROR where it is not kept, GONE_ERROR where its pictures are no longer
 */
export async function creationOf(
  { store, inputs }: Services,
  userId: number,
  id: string,
): Promise<CreateRun> {
  const kept = await store.runs.requestOf(userId, id);
  if (!kept) throw notFound('what the run was created from is not kept: an earlier version made it');
  const { textInputs, images, urls = [], runOptions } = kept.request;
  const isSent = images.length > 0 && !images.every((_, at) => typeof urls[at] === 'string');
  const bytes = isSent ? await inputs.load(id, images).catch(gone) : [];
  const imageInputs = images.map((_, at): ImageInput => {
    const url = urls[at];
    if (typeof url === 'string') return { type: 'url', url };
    return { type: 'base64', base64: bytes[at]?.bytes.toString('base64') ?? '' };
  });
  return {
    promptVersionId: kept.promptVersionId,
    inputs: {
      ...(Object.keys(textInputs).length > 0 && { textInputs }),
      ...(imageInputs.length > 0 && { imageInputs }),
    },
    ...(Object.keys(runOptions).length > 0 && { runOptions }),
  };
}

function gone(): never {
  throw new ApiError('GONE_ERROR', 'the pictures that the run was created from are no longer kept');
}
