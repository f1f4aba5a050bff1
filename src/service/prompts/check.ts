import type { JsonObject, JsonValue } from '../files/json.ts';
import { checkModel, type KnownModels } from './check-model.ts';
import type { PromptDefinition } from './definition.ts';
import type { Finding, Findings } from './findings.ts';
import { loadLanguage } from './language.ts';
import type { ParsedPrompt, ParseOptions } from './parse.ts';
import { isPartialFile } from './slug.ts';

export interface CheckOptions extends ParseOptions {
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
