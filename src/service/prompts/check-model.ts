import { type ModelEntry, PROVIDER_SETTINGS } from '../models/entry.ts';
import type { PromptDefinition } from './definition.ts';
import type { Findings } from './findings.ts';

export interface KnownModels {
  list(): readonly ModelEntry[];
  get(name: string): ModelEntry | undefined;
  explainMissing(name: string): string;
}

type Definition = Pick<PromptDefinition, 'model' | 'config' | 'runOptions' | 'places'>;

/** Whether a prompt's model exists and takes the prompt's default run options. */
export function checkModel(definition: Definition, models: KnownModels, findings: Findings): void {
  const { model: name, places, config, runOptions } = definition;
  const model = models.get(name);
  if (!model) return findings.fault(places.model, models.explainMissing(name));
  for (const key of Object.keys(config)) {
    const place = places.config[key] ?? places.model;
    const option = model.runOptions.find(option => option.key === key);
    const value = runOptions[key];
    if (option && (value === undefined || !option.options.includes(value))) {
      const given = value ?? JSON.stringify(config[key]);
      const choices = option.options.join(', ');
      findings.fault(
        place,
        `\`${key}\` of the model \`${model.model}\` is one of ${choices}, not \`${given}\``,
      );
    }
    if (!option && isIgnored(key, model)) findings.note(place, ignoredOption(key, model));
  }
}

/** A model of a provider is given whatever the file says; what it makes of it is not known here. */
function isIgnored(key: string, { provider }: ModelEntry): boolean {
  return provider === undefined && !PROVIDER_SETTINGS.has(key);
}

function ignoredOption(key: string, { model, runOptions }: ModelEntry): string {
  const keys = runOptions.map(({ key }) => key);
  const known = keys.length > 0 ? `: it has ${keys.join(', ')}` : '';
  return `the model \`${model}\` ignores \`${key}\`${known}`;
}
