import {
  describeShutdown,
  findNearShutdown,
  type ModelEntry,
  PROVIDER_SETTINGS,
} from '../model-entry.ts';
import { describeOmission, sortOptions } from '../providers/requests/call-options.ts';
import { listIgnoredKeywords } from '../providers/requests/schema-keywords.ts';
import type { RemedyOptions } from './model-table.ts';

/** The part of a model table that a check of prompts needs. */
interface ModelLookup {
  get(name: string): ModelEntry | undefined;
  explainMissing(name: string, options?: RemedyOptions): string;
}

interface KnownModelsOptions extends RemedyOptions {
  readonly nowMs?: number;
}

/** Returns the models in the form that the check of a prompt file needs. */
export function createKnownModels(
  models: ModelLookup,
  { nowMs = Date.now(), includesRemedy }: KnownModelsOptions = {},
) {
  return {
    settingNames: [...PROVIDER_SETTINGS],
    explainMissing: (name: string) => models.explainMissing(name, { includesRemedy }),
    get(name: string) {
      const entry = models.get(name);
      return entry && toKnownModel(entry, nowMs);
    },
  };
}

function toKnownModel(entry: ModelEntry, nowMs: number) {
  const { model, runOptions, provider, declaration } = entry;
  const shutdown = findNearShutdown(entry, nowMs);
  return {
    model,
    runOptions,
    note: shutdown && describeShutdown(shutdown),
    // A provider gets every setting; only it knows which ones it ignores.
    listConfigNotes: (config: Readonly<Record<string, unknown>>) =>
      provider ? sortOptions(config, entry, new Set()).notes : [],
    listSchemaNotes: (schema: unknown) =>
      listIgnoredKeywords(schema, entry).map(keyword =>
        describeOmission(entry, `the schema's ${keyword}`),
      ),
    ignores: (setting: string) => !provider && !declaration && !PROVIDER_SETTINGS.has(setting),
  };
}
