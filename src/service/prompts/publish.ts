import { createKnownModels } from '../../models/catalogue/known-models.ts';
import type { ModelTable } from '../../models/catalogue/model-table.ts';
import { checkParsed } from '../../prompts/check/check-prompt.ts';
import { type PromptDefinition, resolveModel } from '../../prompts/definition.ts';
import { Findings, toPromptFileError } from '../../prompts/findings.ts';
import { lacksOpeningFence } from '../../prompts/parse/prompt-source.ts';
import { isPartialFile } from '../../prompts/slug.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../store/store.ts';
import { toNewVersion } from './versions.ts';

export interface PublishedVersion {
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
  /**
   * Called with remedies that only the operator can apply. It is undefined if the caller is the
   * operator: errors then name the remedies.
   */
  readonly notifyOperator?: ((line: string) => void) | undefined;
  /** The model of prompts that name none; default `echo`. */
  readonly defaultModel?: string | undefined;
}

/** A prompt that was published from a local file. */
export interface PublishedFile extends PublishedVersion {
  /** True if neither the file nor a default names a model, so that `echo` answers. */
  readonly usesEcho: boolean;
  /**
   * True if the file lacks the line before its front matter, so that the front matter is part of
   * the template.
   */
  readonly lacksFence: boolean;
}

/**
 * Publishes a prompt file. Content that equals an earlier version makes that version the latest
 * again.
 *
 * @throws {InvalidPromptFileError} for a partial, an unknown model or default model, or an unknown
 * run option; its message names file and line
 */
export async function publishPrompt(
  { store, models, clock, tasks, defaultModel, notifyOperator }: PublishContext,
  definition: PromptDefinition,
  file = `${definition.slug}.prompt`,
): Promise<PublishedFile> {
  const fallbackModel = definition.namesModel ? undefined : defaultModel;
  await checkDefinition(definition, file, { models, tasks, notifyOperator });

  if (fallbackModel !== undefined && !models.get(fallbackModel)) {
    const findings = new Findings(file);
    findings.addFault(
      { line: 1, column: 1 },
      `the setting \`model\`: ${models.explainMissing(fallbackModel)}`,
    );
    throw toPromptFileError(findings);
  }

  const version = toNewVersion(
    { ...definition, model: resolveModel(definition, models) },
    fallbackModel,
  );
  const changed = await store.prompts.publish(version, clock.now());
  const { slug, promptId, id, title } = version;
  const usesEcho = !definition.namesModel && fallbackModel === undefined;
  const lacksFence = lacksOpeningFence(definition.source);

  return { slug, promptId, promptVersionId: id, title, changed, usesEcho, lacksFence };
}

/**
 * Checks that a prompt can be run here. Without `models`, any model is accepted.
 *
 * @throws {InvalidPromptFileError} whose message names file and line
 */
export async function checkDefinition(
  definition: PromptDefinition,
  file: string,
  {
    models,
    tasks,
    notifyOperator,
  }: Pick<PublishContext, 'tasks' | 'notifyOperator'> & { models?: ModelTable | undefined },
): Promise<void> {
  const findings = new Findings(file);
  const fileStart = { line: 1, column: 1 };
  if (isPartialFile(file)) {
    findings.addFault(fileStart, 'this is a partial: run or publish a prompt that uses it');
  }

  const knownModels =
    models && createKnownModels(models, { includesRemedy: notifyOperator === undefined });
  await checkParsed({ findings, definition }, { models: knownModels, tasks });
  if (findings.hasFaults) throw toPromptFileError(findings);
}
