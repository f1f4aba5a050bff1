import type { JsonObject } from '../../files/formats/json.ts';
import { type PromptDefinition, resolveModel, toConfigFields } from '../../prompts/definition.ts';
import { type Finding, toPromptFileError } from '../../prompts/findings.ts';
import { readPromptText } from '../../prompts/parse/read-prompt-text.ts';
import { toValidSlug } from '../../prompts/slug.ts';
import { parsePromptText } from '../../prompts/tasks/read-prompt.ts';
import type { NewVersion, StoredVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';
import { Definitions } from './definitions.ts';
import { checkDefinition, type PublishContext } from './publish.ts';
import { derivePromptId, deriveUnlistedVersionId, toNewVersion } from './versions.ts';

/**
 * The prompt to run without publishing: a prompt file, or a published version by its id, prompt id
 * or slug.
 */
export interface UnlistedRequest {
  readonly file?: string;
  /** The text to use instead of the file's content. */
  readonly text?: string;
  /** True if the file's partials may lie outside its folder; default false. */
  readonly allowOutside?: boolean;
  readonly promptVersionId?: string;
  readonly slug?: string;
  /** The model to use instead of the prompt's. */
  readonly model?: string;
  /** The config to use instead of the prompt's. */
  readonly config?: JsonObject | undefined;
  /** The model if the file names none; default `echo`. */
  readonly defaultModel?: string | undefined;
}

/** A version that can be run by its id. */
export interface UnlistedVersion {
  readonly promptVersionId: string;
  readonly promptId: string;
  readonly slug: string;
  readonly title: string;
  /** The requested model name, which may be an alias. */
  readonly model: string;
  /** Notes on a prompt file that concern each run of it. */
  readonly notes?: readonly Finding[];
}

/** A prompt or model does not exist. */
export class UnlistedFault extends Error {
  constructor(
    readonly code: 'UNKNOWN_PROMPT' | 'UNKNOWN_MODEL',
    message: string,
  ) {
    super(message);
  }
}

/**
 * Returns a version that can be run and read by its id, but is in no list or search and never the
 * latest. Equal content with the same model is the same version. For a published prompt without
 * another model, returns the published version.
 *
 * @throws {InvalidPromptFileError} for a file that can't be run here
 * @throws {UnlistedFault} for a prompt or model that does not exist
 */
export async function ensureUnlistedVersion(
  context: PublishContext,
  request: UnlistedRequest,
): Promise<UnlistedVersion> {
  const { store, models, clock } = context;
  const { config } = request;
  checkModelExists(models, request.model);
  const publishedVersion =
    request.file === undefined ? await findPublished(store, request) : undefined;
  if (publishedVersion && !overridesVersion(publishedVersion, request)) {
    return toUnlistedVersion(publishedVersion);
  }

  const { definition, notes } = publishedVersion
    ? {
        definition: await new Definitions(store, context.tasks).getByVersionId(publishedVersion.id),
        notes: [],
      }
    : await readUnlistedFile(context, request);
  const version = toNewVersion(config ? { ...definition, ...toConfigFields(config) } : definition);
  const model = chooseModel(models, definition, request) ?? version.model;
  const unlisted = toUnlisted(version, model, config);
  await store.prompts.ensureUnlisted(unlisted, clock.now());

  return { ...toUnlistedVersion(unlisted), notes };
}

/** Returns true if a request names another model or config than the version's. */
function overridesVersion({ model }: StoredVersion, request: UnlistedRequest): boolean {
  return request.config !== undefined || (request.model ?? model) !== model;
}

/**
 * Returns the requested model, that of the prompt, or the default.
 *
 * @throws {UnlistedFault} if the default doesn't exist
 */
function chooseModel(
  models: PublishContext['models'],
  definition: PromptDefinition,
  { model, defaultModel }: UnlistedRequest,
): string | undefined {
  if (model !== undefined) return model;
  if (definition.namesModel) return resolveModel(definition, models);
  checkModelExists(models, defaultModel, 'the setting `model`: ');
  return defaultModel;
}

/**
 * @param where the beginning of the message: where the model is named
 * @throws {UnlistedFault} if the model does not exist
 */
function checkModelExists(
  models: PublishContext['models'],
  model: string | undefined,
  where = '',
): void {
  if (model === undefined || models.get(model)) return;
  throw new UnlistedFault('UNKNOWN_MODEL', `${where}${models.explainMissing(model)}`);
}

/** Reads a prompt file. Its model need not exist if the request names another one. */
async function readUnlistedFile(
  { models, tasks }: PublishContext,
  { file = '', text, allowOutside, model }: UnlistedRequest,
): Promise<{ readonly definition: PromptDefinition; readonly notes: readonly Finding[] }> {
  const { findings, definition, runNotes } =
    text === undefined
      ? await parsePromptText(await readPromptText(file), file, { tasks, allowOutside })
      : await parsePromptText(text, `${toValidSlug(file)}.prompt`, { tasks, partials: {} });
  if (findings.hasFaults || !definition) throw toPromptFileError(findings);
  await checkDefinition(definition, file, {
    models: model === undefined ? models : undefined,
    tasks,
  });
  return { definition, notes: runNotes };
}

function toUnlisted(
  version: NewVersion,
  model: string,
  config: JsonObject | undefined,
): NewVersion {
  return { ...version, model, id: deriveUnlistedVersionId(version.id, model, config) };
}

async function findPublished(store: Store, request: UnlistedRequest): Promise<StoredVersion> {
  const { slug, promptVersionId: id = '' } = request;
  const version =
    slug === undefined
      ? ((await store.prompts.findVersion(id)) ?? (await store.prompts.findLatest(id)))
      : await store.prompts.findLatest(derivePromptId(slug));
  if (version) return version;
  throw new UnlistedFault(
    'UNKNOWN_PROMPT',
    `the prompt ${slug ?? id} is not published on this machine`,
  );
}

function toUnlistedVersion({
  id,
  promptId,
  slug,
  title,
  model,
}: NewVersion | StoredVersion): UnlistedVersion {
  return { promptVersionId: id, promptId, slug, title, model };
}
