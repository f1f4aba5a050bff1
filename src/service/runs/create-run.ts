import { randomUUID } from 'node:crypto';
import type { LoadedImage } from '../../prompts/render/loaded-image.ts';
import { formatNumber } from '../../utils/format-number.ts';
import {
  type CreateRunRequest,
  IDEMPOTENCY_KEY_HEADER,
  type ImageInput,
} from '../../wire/index.ts';
import { type Caller, SESSION_KEY_ID } from '../core/caller.ts';
import { type Clock, waitAtMost } from '../core/clock.ts';
import { invalidRequest, notFound, Refusal, tooMany } from '../core/refusal.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import {
  CreationRefusedError,
  findOutcome,
  type Idempotency,
  type RunOutcome,
  type UserLimits,
} from '../store/runs/run-records.ts';
import { DatabaseUnavailableError } from '../store/store-errors.ts';
import type { Runner, UnstartedRun } from './execution/runner.ts';
import { findRun } from './find-run.ts';
import type { InputFiles } from './input-files.ts';
import {
  checkRequestInputs,
  type RequestCheckServices,
  requireAccess,
  requireRunnable,
} from './run-request.ts';

/** The services that creating a run needs. */
export interface RunServices extends RequestCheckServices {
  readonly runner: Runner;
  readonly limits: UserLimits;
  readonly inputFiles: InputFiles;
  readonly clock: Clock;
  readonly syncWindowMs: number;
  /**
   * Checks and loads the images of a creation.
   *
   * @throws {Refusal}, and what `onBytes` throws for fetched ones
   */
  readonly loadImages: (
    images: ImageInput[],
    onBytes: (count: number) => void,
  ) => Promise<LoadedImage[]>;
}

/** A run that was created now or earlier. Its outcome is undefined if it has not ended. */
interface CreationAnswer {
  id: string;
  outcome: Pick<RunOutcome, 'status' | 'outputs' | 'tokens' | 'warnings'> | undefined;
}

/** Time after which a caller whose queue is full may retry, in seconds. */
const FULL_QUEUE_RETRY_S = 5;

const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

type RefusalReason = Exclude<CreationRefusedError['reason'], 'caller'>;

const CREATION_REFUSALS: Readonly<
  Record<RefusalReason, (run: Pick<UnstartedRun, 'credits'>, limits: UserLimits) => Refusal>
> = {
  credits: ({ credits }) =>
    new Refusal('TOO_FEW_CREDITS', `too few credits: the run needs ${credits}`),
  queue: (_, { maxQueuedRuns }) =>
    tooMany(
      `too many of your runs are queued (at most ${formatNumber(maxQueuedRuns)}); wait until some have ended`,
      FULL_QUEUE_RETRY_S,
    ),
  version: () => notFound('the prompt version does not exist, or is not published'),
  space: (_, { maxMediaBytes }) =>
    new Refusal(
      'NO_SPACE',
      `your generated media and the inputs of your unfinished runs take up all of your space, ${maxMediaBytes / 1024 ** 3} GiB; media is deleted after 24 hours`,
    ),
  key: () => differentBodyRefusal(),
};

interface CreationOptions {
  readonly idempotencyKey: string | undefined;
  /** The trace context to pass on to the model's provider, address or program. */
  readonly traceparent?: string | undefined;
  /** Returns the digest of the body as sent. */
  readonly computeDigest: () => string;
  /** Counts the memory of fetched images; released once they are stored. */
  readonly memory: RequestMemory;
}

/**
 * Checks a creation, stores the run, and waits for its end within the sync window. A creation whose
 * key was used before returns that run in its current state.
 *
 * @param body the request, whose inputs are dropped once they are stored
 */
export async function answerCreation(
  services: RunServices,
  caller: Caller,
  body: CreateRunRequest,
  { idempotencyKey, computeDigest, traceparent, memory }: CreationOptions,
): Promise<CreationAnswer> {
  const { clock, inputFiles, syncWindowMs } = services;
  const idempotency = toIdempotency(idempotencyKey, computeDigest);
  const creation = await checkUnlessRepeated(services, caller, body, { idempotency, memory });
  if ('repeated' in creation) return creation.repeated;

  const { run, images } = creation;
  await inputFiles.saveImages(run.id, images);
  const request = {
    ...(await inputFiles.storeLargeTexts(run.id, run.request)),
    ...(traceparent !== undefined && { traceparent }),
  };

  // The images and large texts are stored, and the answer may take minutes. Until then, the
  // callers hold the body and the images, so both are emptied.
  Object.assign(body, { inputs: {} });
  images.length = 0;
  memory.release();

  const { runId, outcome, ending } = await storeRun(services, { ...run, request, idempotency });
  if (runId !== run.id) {
    await inputFiles.remove(run.id, request);
    return await readCreationAnswer(services, caller, runId);
  }

  return { id: runId, outcome: outcome ?? (await waitAtMost(syncWindowMs, clock, ending)) };
}

/**
 * Checks a creation. Returns the run of an earlier creation with the same key instead, if there is
 * one.
 *
 * @throws {Refusal} if it is refused
 */
async function checkUnlessRepeated(
  services: RunServices,
  caller: Caller,
  body: CreateRunRequest,
  { idempotency, memory }: { idempotency: Idempotency | undefined; memory: RequestMemory },
): Promise<CheckedCreation | { repeated: CreationAnswer }> {
  const hasImages = (body.inputs.imageInputs ?? []).length > 0;

  // Looked up first, because fetching or refusing images must not prevent a repeated creation
  // from finding its run.
  if (hasImages) {
    const repeated = await findRepeatedCreation(services, caller, idempotency);
    if (repeated) return { repeated };
  }

  try {
    return await checkCreation(services, caller, body, memory);
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) throw error;
    const repeated = await findRepeatedCreation(services, caller, idempotency);
    if (repeated) return { repeated };

    // The check may have failed because its version is cached and has been withdrawn since; that
    // is the fault to report then, and the check's own otherwise.
    services.definitions.forgetRunnable(body.promptVersionId);
    await requireRunnable(services, body.promptVersionId);
    throw error;
  }
}

/**
 * Returns the run of an earlier creation with this key; undefined if there is none.
 *
 * @throws {Refusal} if the earlier one had another body
 */
async function findRepeatedCreation(
  services: RunServices,
  caller: Caller,
  idempotency: Idempotency | undefined,
): Promise<CreationAnswer | undefined> {
  if (!idempotency) return undefined;
  const { store, clock } = services;
  const earlier = await store.runs.findByKey(caller.userId, idempotency.key, clock.now());
  if (!earlier) return undefined;
  if (earlier.digest !== idempotency.digest) throw differentBodyRefusal();
  return await readCreationAnswer(services, caller, earlier.run.id);
}

async function readCreationAnswer(
  { store }: RunServices,
  { userId }: Caller,
  id: string,
): Promise<CreationAnswer> {
  return { id, outcome: findOutcome(await findRun(store, userId, id)) };
}

/**
 * Stores a run, which then runs or waits for its turn.
 *
 * @throws {Refusal} if it may not be created; its inputs are removed
 */
async function storeRun(services: RunServices, run: Parameters<Runner['create']>[0]) {
  const { definitions, inputFiles, limits, runner } = services;
  return await runner.create(run).catch(async (error: unknown) => {
    if (!(error instanceof CreationRefusedError)) throw error;
    await inputFiles.remove(run.id, run.request);
    const { reason } = error;
    if (reason === 'version') definitions.forgetRunnable(run.promptVersionId);
    if (reason === 'caller') throw await callerRefusal(services, run.userId);
    throw CREATION_REFUSALS[reason](run, limits);
  });
}

/** A creation that was not refused: the run to store, and its images. */
interface CheckedCreation {
  readonly run: UnstartedRun;
  readonly images: LoadedImage[];
}

/** Checks a creation and loads its images. @throws {Refusal} if it is refused */
export async function checkCreation(
  services: RunServices,
  { userId, keyId }: Pick<Caller, 'userId' | 'keyId'>,
  body: CreateRunRequest,
  memory: RequestMemory,
): Promise<CheckedCreation> {
  const { version, definition, model } = await requireRunnable(services, body.promptVersionId);
  requireAccess(services, model);
  const hasSessionKey = keyId === SESSION_KEY_ID;
  const acceptedInputs = await checkRequestInputs(services, body, {
    definition,
    model,
    userId,
    allowsUnlistedOptions: hasSessionKey,
  });

  const { textInputs, runOptions, images: sentImages } = acceptedInputs;
  const images = sentImages.length > 0 ? await services.loadImages(sentImages, memory.reserve) : [];
  const urls = sentImages.map(image => (image.type === 'url' ? image.url : null));
  const request = {
    textInputs,
    images: images.map(({ mediaType }) => mediaType),
    ...(urls.some(url => url !== null) && { urls }),
    ...(model.engine === 'program' && ({ isProgram: true } as const)),
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
      model: services.models.getRequiredCapability(model),
      credits: model.credits,
      inputBytes: images.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
      textBytes: Object.values(textInputs).reduce((sum, text) => sum + Buffer.byteLength(text), 0),
      keyId: hasSessionKey ? undefined : keyId,
      needsSpace: images.length > 0 || model.modality !== 'text',
      isRepeatable: model.engine === 'echo',
      request,
    },
  };
}

/** Returns the refusal for a key or plan that has been removed since it was looked up. */
async function callerRefusal({ store }: RunServices, userId: number): Promise<Refusal> {
  const user = await store.accounts.findUser(userId);
  if (user?.plan === 'none') return new Refusal('NO_PLAN', 'the account has no paid plan');
  return new Refusal('NO_KEY', 'the API key is missing or not valid');
}

function differentBodyRefusal(): Refusal {
  return invalidRequest(
    `${IDEMPOTENCY_KEY_HEADER}: another body was sent with this key within the last 24 hours`,
  );
}

/** Returns the stored form of a creation's `Idempotency-Key`; undefined if none was sent. */
function toIdempotency(
  key: string | undefined,
  computeDigest: () => string,
): Idempotency | undefined {
  if (key === undefined) return undefined;
  if (key === '' || key.length > MAX_IDEMPOTENCY_KEY_LENGTH) {
    throw invalidRequest(
      `${IDEMPOTENCY_KEY_HEADER} must have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} characters`,
    );
  }
  return { key, digest: computeDigest() };
}
