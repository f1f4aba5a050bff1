import { randomUUID } from 'node:crypto';
import type { ImageInput } from '../../wire/index.ts';
import type { Clock } from '../clock.ts';
import { ApiError, invalid, notFound } from '../http/api-error.ts';
import type { Caller } from '../http/auth.ts';
import { InvalidImage, type LoadedImage } from '../images/index.ts';
import type { CreateRun } from '../schemas/runs.ts';
import type { Services } from '../services.ts';
import type { Outcome } from '../store/run-records.ts';
import { checkInputs } from './run-request.ts';

/** A run that was created; without an outcome if it had none within the waiting window. */
export interface CreatedRun {
  id: string;
  outcome: Outcome | undefined;
}

/** Checks a creation, puts it on disk, and waits for its end as long as the window is open (interface §4.2). */
export async function createRun(services: Services, caller: Caller, body: CreateRun): Promise<CreatedRun> {
  const { store, definitions, models, runner, inputs } = services;
  const version = await store.prompts.version(body.promptVersionId.toLowerCase());
  if (!version) throw notFound('there is no such published prompt version');
  const definition = definitions.of(version);
  const model = models.get(definition.model);
  if (!model) throw invalid(`the prompt's model ${definition.model} is not available here`);
  const checked = checkInputs(body, definition, model);
  const images = await loadImages(services, checked.images);

  const id = randomUUID();
  await inputs.save(id, images);
  const created = await runner.create({
    id,
    userId: caller.userId,
    promptVersionId: version.id,
    promptId: version.promptId,
    name: version.title,
    credits: model.credits,
    request: {
      textInputs: checked.textInputs,
      images: images.map(({ mediaType }) => mediaType),
      runOptions: checked.runOptions,
    },
  });
  if (!created) {
    await inputs.remove(id);
    throw new ApiError('PAYMENT_REQUIRED_ERROR', `too few credits: the run needs ${model.credits}`);
  }
  return { id, outcome: await within(services.syncWindowMs, services.clock, created.ending) };
}

async function loadImages(services: Services, images: ImageInput[]): Promise<LoadedImage[]> {
  if (images.length === 0) return [];
  try {
    return await services.loadImages(images);
  } catch (error) {
    if (error instanceof InvalidImage) throw invalid(error.message);
    throw error;
  }
}

/** What `work` gives, or undefined once `ms` are over. */
async function within<T>(ms: number, clock: Clock, work: Promise<T | undefined>): Promise<T | undefined> {
  const enough = new AbortController();
  const windowEnds = clock.sleep(ms, enough.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, windowEnds]);
  } finally {
    enough.abort(new Error('the run has ended'));
  }
}
