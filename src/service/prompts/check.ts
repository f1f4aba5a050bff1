import type { JsonObject, JsonValue } from '../files/json.ts';
import { type ModelEntry, PROVIDER_SETTINGS } from '../models/entry.ts';
import type { PromptDefinition } from './definition.ts';
import type { Finding, Findings } from './findings.ts';
import { loadLanguage } from './language.ts';
import type { ParsedPrompt, ParseOptions } from './parse.ts';
import { isPartialFile } from './slug.ts';

interface CheckOptions extends ParseOptions {
  /** The models there are; without them the model is not checked. */
  readonly models?: KnownModels;
}

/** Everything wrong with a prompt file, and everything that is merely unknown, each with its line and column. */
export async function checkPrompt(
  source: string,
  file: string,
  options: CheckOptions = {},
): Promise<Finding[]> {
  const { parsePrompt } = await loadLanguage();
  const parsed = parsePrompt(source, file, options);
  await checkParsed(parsed, options.models);
  const { findings, definition } = parsed;
  if (definition && isEmptyPrompt(definition)) {
    findings.note({ line: 1, column: 1 }, 'the prompt has no template: it can’t be published');
  }
  return findings.list();
}

/** Adds what only shows with the models and schemas at hand. */
export async function checkParsed(
  { findings, definition }: ParsedPrompt,
  models?: KnownModels,
): Promise<void> {
  if (!definition) return;
  await checkSchemas(definition, findings);
  if (models && !isPartialFile(findings.file)) checkModel(definition, models, findings);
}

export function isEmptyPrompt({ template }: Pick<PromptDefinition, 'template'>): boolean {
  return template.trim() === '';
}

/** Whether defaults match their schemas, and the schemas can be used at all. */
async function checkSchemas(definition: PromptDefinition, findings: Findings): Promise<void> {
  const { textInputs, input, output, places } = definition;
  for (const { key, schema } of textInputs) {
    const place = places.defaults[key];
    const value = input.default && Object.hasOwn(input.default, key) ? input.default[key] : undefined;
    if (!schema || !place || value === undefined || findings.hasFaultAt(place)) continue;
    await tryOut(schema, value, what => findings.fault(place, `the default of \`${key}\` ${what}`));
  }
  if (output.schema && !findings.hasFaults) {
    await tryOut(output.schema, null, what => findings.fault(places.output, what), true);
  }
}

/** Checks a value, or with `schemaOnly` nothing but that something can be checked. */
async function tryOut(
  schema: JsonObject,
  value: JsonValue,
  report: (what: string) => void,
  schemaOnly = false,
): Promise<void> {
  const { findMismatch, InvalidSchema } = await import('./schemas/validate.ts');
  const { PastBound } = await import('./bounds.ts');
  try {
    const mismatch = await findMismatch(schema, value);
    if (mismatch && !schemaOnly) {
      report(`does not match its schema at "${mismatch.pointer}": ${mismatch.message}`);
    }
  } catch (error) {
    if (!(error instanceof InvalidSchema || error instanceof PastBound)) throw error;
    report(error.message);
  }
}

interface KnownModels {
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
