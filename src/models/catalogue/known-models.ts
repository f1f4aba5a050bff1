import { type ModelEntry, PROVIDER_SETTINGS, shutdownNote, shutdownOf } from '../entry.ts';
import { leftOutNote, sortOptions } from '../providers/options.ts';
import { ignoredKeywords } from '../providers/schema-notes.ts';

/** A table of models, as far as a check of prompts needs it. */
interface Table {
  get(name: string): ModelEntry | undefined;
  explainMissing(name: string, withRemedy?: boolean): string;
}

interface KnownModelsOptions {
  readonly nowMs?: number;
  /** Whether messages say what the owner of `models.yaml` can do; default true. */
  readonly withRemedy?: boolean | undefined;
}

/** Returns what a check of a prompt file has to know of the models. */
export function knownModels(models: Table, { nowMs = Date.now(), withRemedy }: KnownModelsOptions = {}) {
  return {
    settings: [...PROVIDER_SETTINGS],
    explainMissing: (name: string) => models.explainMissing(name, withRemedy),
    get(name: string) {
      const entry = models.get(name);
      const shutdown = entry && shutdownOf(entry, nowMs);
      return (
        entry && {
          model: entry.model,
          runOptions: entry.runOptions,
          note: shutdown && shutdownNote(shutdown),
          // A provider gets whatever the file says, and only the provider knows what it does with it.
          notesOn: (config: Readonly<Record<string, unknown>>) =>
            entry.provider ? sortOptions(config, entry, new Set()).notes : [],
          notesOnSchema: (schema: unknown) =>
            ignoredKeywords(schema, entry).map(keyword => leftOutNote(entry, `the schema's ${keyword}`)),
          ignores: (setting: string) => !entry.provider && !entry.declared && !PROVIDER_SETTINGS.has(setting),
        }
      );
    },
  };
}
