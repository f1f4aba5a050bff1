import { type ModelEntry, PROVIDER_SETTINGS } from '../models/entry.ts';
import { InvalidPromptFile, type PromptDefinition } from './definition.ts';

export interface KnownModels {
  list(): readonly ModelEntry[];
  get(name: string): ModelEntry | undefined;
  explainMissing(name: string): string;
}

/** Whether a prompt's model exists and takes the prompt's default run options. Throws InvalidPromptFile. */
export function checkModel(definition: PromptDefinition, file: string, models: KnownModels): void {
  const { model: name, lines } = definition;
  const model = models.get(name);
  if (!model) throw new InvalidPromptFile(file, lines.model, models.explainMissing(name));
  for (const [key, value] of Object.entries(definition.runOptions)) {
    const fault = optionFault(key, value, model);
    if (fault !== undefined) throw new InvalidPromptFile(file, lines.runOptions[key] ?? 1, fault);
  }
}

function optionFault(key: string, value: string, { model, runOptions }: ModelEntry): string | undefined {
  const option = runOptions.find(option => option.key === key);
  if (option?.options.includes(value)) return undefined;
  if (option) {
    return `\`${key}\` of the model \`${model}\` is one of ${option.options.join(', ')}, not \`${value}\``;
  }
  if (PROVIDER_SETTINGS.has(key)) return undefined;
  const keys = runOptions.map(({ key }) => key);
  return `the model \`${model}\` has no run option \`${key}\`${keys.length > 0 ? `: it has ${keys.join(', ')}` : ''}`;
}
