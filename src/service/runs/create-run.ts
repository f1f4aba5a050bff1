import { createHash, randomUUID } from 'node:crypto';
import { IDEMPOTENCY_KEY_HEADER, type ImageInput } from '../../wire/index.ts';
import { within } from '../clock.ts';
import { ApiError, invalid, tooManyRequests } from '../http/api-error.ts';
import type { Caller, RequestMemory } from '../http/route.ts';
import { InvalidImage, type LoadedImage } from '../images/loaded-image.ts';
import type { CreateRun } from '../schemas/runs.ts';
import type { Services } from '../services.ts';
import type { Idempotency, NewRun, Outcome, RefusalReason, UserLimits } from '../store/run-records.ts';
import { findRun } from './current-runs.ts';
import { checkInputs, requireAccess, requireRunnable } from './run-request.ts';
import { outcomeOf } from './run-work.ts';

/** A run that was created, now or before; without an outcome while it goes on. */
interface CreatedRun {
  id: string;
  outcome: Pick<Outcome, 'status' | 'outputs' | 'tokens'> | undefined;
}

/** How long a caller whose queue is full should wait before the next try, in seconds. */
const FULL_QUEUE_RETRY_S = 5;

const NO_SPACE =
  'your generated media and the pictures of your unfinished runs take up all the space a user has, SIZE; media goes 24 hours after it was made';

interface CreationOptions {
  readonly idempotencyKey: string | undefined;
  /** Counts the pictures fetched; freed once those that came are no longer needed in memory. */
  readonly memory: RequestMemory;
}

/**
 * Checks a creation, puts it on disk, and waits for its end as long as the window is open. One whose
 * key was used before gives that run, as it is by now.
 */
export async function createRun(
  services: Services,
  caller: Caller,
  body: CreateRun,
  { idempotencyKey, memory }: CreationOptions,
): Promise<CreatedRun> {
  const idempotency = idempotencyOf(idempotencyKey, body);
  const known = idempotency && (await repeatedRun(services, caller, idempotency));
  if (known) return known;
  const { run, images } = await checkedRun(services, caller, body, memory);
  await services.inputs.save(run.id, images);
  // The answer may be minutes away, and what was sent is on disk: memory need not hold it as long.
  const sent: { inputs: CreateRun['inputs'] } = body;
  sent.inputs = {};
  images.length = 0;
  memory.free();
  const { creation, ending } = await services.runner.create({ ...run, idempotency });
  if (creation.state === 'created') {
    return { id: run.id, outcome: await within(services.syncWindowMs, services.clock, ending) };
  }
  await services.inputs.remove(run.id);
  if (creation.state === 'refused') throw refusal(creation.reason, run.credits, services.runner.limits);
  const repeated = await findRun(services.store, caller.userId, creation.runId);
  return { id: creation.runId, outcome: outcomeOf(repeated) };
}

async function repeatedRun(
  { store, clock, runner }: Services,
  { userId }: Caller,
  { key, digest }: Idempotency,
): Promise<CreatedRun | undefined> {
  const known = await store.runs.createdWith(userId, key, clock.now());
  if (!known) return undefined;
  if (known.digest !== digest) throw refusal('key', 0, runner.limits);
  const { id } = known.run;
  const outcome = outcomeOf(known.run) ?? outcomeOf(await findRun(store, userId, id));
  return { id, outcome };
}

type CheckedRun = Omit<NewRun, 'status' | 'worker' | 'idempotency'>;

/** A creation as it is kept, with its pictures. @throws {ApiError} for one that is refused */
export async function checkedRun(
  services: Services,
  { userId }: Pick<Caller, 'userId'>,
  body: CreateRun,
  memory: RequestMemory,
): Promise<{ run: CheckedRun; images: LoadedImage[] }> {
  const { version, definition, model } = await requireRunnable(services, body.promptVersionId);
  requireAccess(services, model);
  const checked = await checkInputs(services, body, { definition, model, userId });
  const { textInputs, runOptions } = checked;
  const images = await loadImages(services, checked.images, memory);
  const urls = checked.images.map(image => (image.type === 'url' ? image.url : null));
  const request = {
    textInputs,
    images: images.map(({ mediaType }) => mediaType),
    ...(urls.some(url => url !== null) && { urls }),
    runOptions,
  };
  return {
    images,
    run: {
      id: randomUUID(),
      userId,
      promptVersionId: version.id,
      promptId: version.promptId,
      name: version.title,
      model: services.models.needs(model),
      credits: model.credits,
      inputBytes: images.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
      needsSpace: images.length > 0 || model.modality !== 'text',
      request,
    },
  };
}

function refusal(reason: RefusalReason, credits: number, { queued, mediaBytes }: UserLimits): ApiError {
  if (reason === 'credits') {
    return new ApiError('PAYMENT_REQUIRED_ERROR', `too few credits: the run needs ${credits}`);
  }
  if (reason === 'queue') {
    return tooManyRequests(
      `too many of your runs are queued (at most ${queued.toLocaleString('en')}); wait until some have ended`,
      FULL_QUEUE_RETRY_S,
    );
  }
  if (reason === 'space') {
    const most = `${mediaBytes / 1024 ** 3} GiB`;
    return new ApiError('INSUFFICIENT_STORAGE_ERROR', NO_SPACE.replace('SIZE', most));
  }
  return invalid(`${IDEMPOTENCY_KEY_HEADER}: another body was sent with this key within the last 24 hours`);
}

async function loadImages(
  services: Services,
  images: ImageInput[],
  memory: RequestMemory,
): Promise<LoadedImage[]> {
  if (images.length === 0) return [];
  try {
    return await services.loadImages(images, memory.take);
  } catch (error) {
    if (error instanceof InvalidImage) throw invalid(error.message);
    throw error;
  }
}

const MAX_KEY_LENGTH = 255;

/** What the store keeps of a creation's `Idempotency-Key`; undefined where none was sent. */
function idempotencyOf(key: string | undefined, body: unknown): Idempotency | undefined {
  if (key === undefined) return undefined;
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    throw invalid(`${IDEMPOTENCY_KEY_HEADER} must have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  const digest = createHash('sha256').update(JSON.stringify(body, sortKeys)).digest('base64url');
  return { key, digest };
}

/** The order in which the fields of an object were sent makes no other body of it. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
