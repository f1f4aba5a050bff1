import type { PromptDefinition } from '../../prompts/definition.ts';
import { slugFrom } from '../../prompts/slug.ts';
import { readDefinition, readPromptFile } from '../../prompts/tasks/read-prompt.ts';
import type { NewVersion, StoredVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';
import { createDefinitions } from './definitions.ts';
import {
  newVersionOf,
  type PublishContext,
  promptIdOf,
  refuseFaulty,
  unlistedVersionIdOf,
} from './publish.ts';

/** What is to be run without being published: a prompt file, or a version that is, by its id, its prompt's id or its slug. */
export interface UnlistedWanted {
  readonly file?: string;
  /** In place of what the file says. */
  readonly text?: string;
  /** Whether the partials of the file may lie outside its folder; default false. */
  readonly allowOutside?: boolean;
  readonly promptVersionId?: string;
  readonly slug?: string;
  /** In place of the model that the prompt names. */
  readonly model?: string;
  /** For a file that names no model; by default `echo`. */
  readonly defaultModel?: string | undefined;
}

/** A version that can be run by its id. */
export interface UnlistedVersion {
  readonly promptVersionId: string;
  readonly promptId: string;
  readonly slug: string;
  readonly title: string;
  /** By the name it was asked for, which may be an alias. */
  readonly model: string;
}

/** A prompt or a model that is not there. */
export class UnlistedFault extends Error {
  constructor(
    readonly code: 'UNKNOWN_PROMPT' | 'UNKNOWN_MODEL',
    message: string,
  ) {
    super(message);
  }
}

/**
 * A version of a prompt that can be run and read by its id, and is otherwise nowhere: in no list, no search, never the
 * latest. The same content with the same model is the same version. A published prompt without another model is its own.
 *
 * @throws {InvalidPromptFile} for a file that can't be run here
 * @throws {UnlistedFault} for a prompt or a model that is not there
 */
export async function ensureUnlistedVersion(
  context: PublishContext,
  wanted: UnlistedWanted,
): Promise<UnlistedVersion> {
  const { store, models, clock, tasks } = context;
  const { file, defaultModel } = wanted;
  checkModel(models, wanted.model);
  const published = file === undefined ? await storedVersion(store, wanted) : undefined;
  if (published && (wanted.model ?? published.model) === published.model) return shown(published);
  const definition = published
    ? await createDefinitions(store, tasks).ofRun(published.id)
    : await readRunnable(context, wanted);
  const model = wanted.model ?? (definition.namesModel ? undefined : defaultModel);
  checkModel(models, model);
  const version = newVersionOf(definition);
  const unlisted = withModel(version, model ?? version.model);
  await store.prompts.keepUnlisted(unlisted, clock.now());
  return shown(unlisted);
}

/** @throws {UnlistedFault} for a model that is not there */
function checkModel(models: PublishContext['models'], model: string | undefined): void {
  if (model === undefined || models.get(model)) return;
  throw new UnlistedFault('UNKNOWN_MODEL', models.explainMissing(model));
}

/** A prompt file, whose own model need not be there where another is named. */
async function readRunnable(
  { models, tasks }: PublishContext,
  { file = '', text, allowOutside, model }: UnlistedWanted,
): Promise<PromptDefinition> {
  const definition =
    text === undefined
      ? await readPromptFile(file, { tasks, allowOutside })
      : await readDefinition(text, `${slugFrom(file)}.prompt`, { tasks, partials: {} });
  await refuseFaulty(definition, file, { models: model === undefined ? models : undefined, tasks });
  return definition;
}

function withModel(version: NewVersion, model: string): NewVersion {
  return { ...version, model, id: unlistedVersionIdOf(version.id, model) };
}

async function storedVersion(store: Store, wanted: UnlistedWanted): Promise<StoredVersion> {
  const { slug, promptVersionId: id = '' } = wanted;
  const version =
    slug === undefined
      ? ((await store.prompts.version(id)) ?? (await store.prompts.latest(id)))
      : await store.prompts.latest(promptIdOf(slug));
  if (version) return version;
  throw new UnlistedFault('UNKNOWN_PROMPT', `there is no published prompt ${slug ?? id} on this machine`);
}

function shown({ id, promptId, slug, title, model }: NewVersion | StoredVersion): UnlistedVersion {
  return { promptVersionId: id, promptId, slug, title, model };
}
