import { createHash } from 'node:crypto';
import type { JsonObject } from '../../files/formats/json.ts';
import { knownModels } from '../../models/catalogue/known-models.ts';
import type { ModelTable } from '../../models/catalogue/model-table.ts';
import { checkParsed } from '../../prompts/check/check-prompt.ts';
import { meantModel, type PromptDefinition, parsedForm } from '../../prompts/definition.ts';
import { Findings, invalidPromptFile } from '../../prompts/findings.ts';
import { lacksOpeningFence } from '../../prompts/parse/prompt-source.ts';
import { isPartialFile } from '../../prompts/slug.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import type { Clock } from '../core/clock.ts';
import type { NewVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';

export interface Published {
  slug: string;
  promptId: string;
  promptVersionId: string;
  title: string;
  /** False if the latest version already had this content. */
  changed: boolean;
}

export interface PublishContext {
  readonly store: Store;
  readonly models: ModelTable;
  readonly clock: Clock;
  readonly tasks: PromptTasks;
  /** See `RunLookup`. */
  readonly toOperator?: ((line: string) => void) | undefined;
  /** The model of prompts that name none; default `echo`. */
  readonly defaultModel?: string | undefined;
}

/** A prompt that was published from a local file. */
export interface PublishedFile extends Published {
  /** True if neither the file nor a default names a model, so that `echo` answers. */
  readonly echoes: boolean;
  /** True if the file lacks the line before its front matter, so that the front matter is part of the template. */
  readonly lacksFence: boolean;
}

/**
 * Publishes a prompt file. Equal content is the same version; the content of an older version makes that the latest.
 *
 * @throws {InvalidPromptFile} for an unknown model or run option; its message names file and line
 */
export async function publishPrompt(
  { store, models, clock, tasks, defaultModel, toOperator }: PublishContext,
  definition: PromptDefinition,
  file = `${definition.slug}.prompt`,
): Promise<PublishedFile> {
  const model = definition.namesModel ? undefined : defaultModel;
  await refuseFaulty(definition, file, { models, tasks, toOperator });
  if (model !== undefined && !models.get(model)) {
    const findings = new Findings(file);
    findings.fault({ line: 1, column: 1 }, `the setting \`model\`: ${models.explainMissing(model)}`);
    throw invalidPromptFile(findings);
  }
  const version = toNewVersion({ ...definition, model: meantModel(definition, models) }, model);
  const changed = await store.prompts.publish(version, clock.now());
  const { slug, promptId, id, title } = version;
  const echoes = !definition.namesModel && model === undefined;
  const lacksFence = lacksOpeningFence(definition.source);
  return { slug, promptId, promptVersionId: id, title, changed, echoes, lacksFence };
}

/**
 * Refuses a prompt that can't be run here. Without `models`, any model passes.
 *
 * @throws {InvalidPromptFile} whose message names file and line
 */
export async function refuseFaulty(
  definition: PromptDefinition,
  file: string,
  {
    models,
    tasks,
    toOperator,
  }: Pick<PublishContext, 'tasks' | 'toOperator'> & { models?: ModelTable | undefined },
): Promise<void> {
  const findings = new Findings(file);
  const top = { line: 1, column: 1 };
  if (isPartialFile(file)) findings.fault(top, 'this is a partial: run or publish a prompt that uses it');
  const known = models && knownModels(models, { withRemedy: toOperator === undefined });
  await checkParsed({ findings, definition }, { models: known, tasks });
  if (findings.hasFaults) throw invalidPromptFile(findings);
}

/**
 * Returns the version of a definition, by its slug, its content and its default model.
 *
 * @param defaultModel the model if the definition names none
 */
export function toNewVersion(definition: PromptDefinition, defaultModel?: string): NewVersion {
  const { slug, title, description, source } = definition;
  const model = defaultModel ?? definition.model;
  const promptId = promptIdForSlug(slug);
  const id = hashVersion(promptId, definition, defaultModel);
  return { id, promptId, slug, title, description, model, source, parsed: parsedForm(definition) };
}

/** Returns the id of the prompt whose versions are files of this name. */
export function promptIdForSlug(slug: string): string {
  return uuidFrom(`prompt\0${slug}`);
}

/** Returns the id of a version. Equal content, partials included, has the same id. */
function hashVersion(
  promptId: string,
  { source, partials }: Pick<PromptDefinition, 'source' | 'partials'>,
  defaultModel: string | undefined,
): string {
  const used = Object.entries(partials).map(([name, text]) => `\0partial\0${name}\0${text}`);
  const model = defaultModel === undefined ? [] : [`\0model\0${defaultModel}`];
  return uuidFrom([`${promptId}\0${source}`, ...used, ...model].join(''));
}

/** Returns the id of an unpublished version, which differs from that of the published version with equal content. */
export function hashUnlistedVersion(promptVersionId: string, model: string, config?: JsonObject): string {
  const own = config === undefined ? '' : `\0config\0${JSON.stringify(config)}`;
  return uuidFrom(`unlisted\0${promptVersionId}\0${model}${own}`);
}

/** Returns a name-based UUID of a text. */
function uuidFrom(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
