import type { FilePosition } from '../../files/formats/file-fault.ts';
import { findOwnValue, type JsonObject, type JsonValue } from '../../files/formats/json.ts';
import { didYouMean } from '../../utils/nearest-name.ts';
import type { RunOption } from '../../wire/index.ts';
import { type PromptDefinition, resolveModel } from '../definition.ts';
import type { Finding, Findings } from '../findings.ts';
import type { ParsedPrompt } from '../parse/parse-prompt.ts';
import { lacksOpeningFence } from '../parse/prompt-source.ts';
import { isPartialFile } from '../slug.ts';
import { inProcessTasks, type PromptTasks } from '../tasks/prompt-tasks.ts';
import { type ParseTextOptions, parsePromptText } from '../tasks/read-prompt.ts';

/** The options of a check. */
export interface CheckOptions extends ParseTextOptions {
  readonly models?: KnownModels | undefined;
  /** True if a missing model is a fault, not a note; default true. */
  readonly needsModel?: boolean | undefined;
}

/** Returns every fault and note of a prompt file, each with its line and column. */
export async function checkPrompt(
  source: string,
  file: string,
  options: CheckOptions = {},
): Promise<Finding[]> {
  const parsed = await parsePromptText(source, file, { ...options, checksTests: true });
  await checkParsed(parsed, options);

  const { findings, definition } = parsed;
  if (definition && lacksOpeningFence(definition.source)) {
    findings.addFault(
      { line: 1, column: 1 },
      'the line `---` before the front matter is missing: add it',
    );
  }

  return findings.list();
}

/** Adds the findings that concern the whole prompt, its models and its schemas. */
export async function checkParsed(
  { findings, definition }: ParsedPrompt,
  { models, needsModel = true, tasks = inProcessTasks }: Omit<CheckOptions, 'partials'>,
): Promise<void> {
  if (!definition) return;

  if (definition.template.trim() === '' && !isPartialFile(findings.file)) {
    findings.addFault(
      { line: 1, column: 1 },
      'the prompt has no template: write one below the front matter',
    );
  }

  await checkSchemas(definition, findings, tasks);

  if (models && !isPartialFile(findings.file)) {
    checkModel(definition, models, { findings, needsModel });
  }
}

/** A schema and a value to check with it. */
interface SchemaTrial {
  readonly schema: JsonObject;
  readonly value: JsonValue;
  readonly place: FilePosition;
  /**
   * The input whose default the value is; undefined for the output's schema, which only has to be
   * usable, whatever the value.
   */
  readonly inputKey?: string;
}

/** Reports defaults that don't match their schemas, and schemas that can't be used. */
async function checkSchemas(
  definition: PromptDefinition,
  findings: Findings,
  tasks: PromptTasks,
): Promise<void> {
  const trials = createTrials(definition, findings);
  if (trials.length === 0) return;

  const faults = await tasks.run(
    'trySchemas',
    trials.map(({ schema, value }) => ({ schema, value })),
  );
  for (const [index, { place, inputKey }] of trials.entries()) {
    const fault = faults[index];
    if (!fault) continue;
    const message = fault.isMismatch ? fault.message : `can't be checked: ${fault.message}`;
    if (inputKey !== undefined) {
      findings.addFault(place, `the default of \`${inputKey}\` ${message}`);
    } else if (!fault.isMismatch && !findings.hasFaults) {
      findings.addFault(place, fault.message);
    }
  }
}

/** Returns the defaults of inputs with their schemas, and the schema of the output. */
function createTrials(
  { textInputs, input, output, places }: PromptDefinition,
  findings: Findings,
): SchemaTrial[] {
  const defaults = textInputs.flatMap(({ key, schema }): SchemaTrial[] => {
    const place = places.defaults[key];
    const value = findOwnValue(input.default, key);
    if (!schema || !place || value === undefined || findings.hasFaultAt(place)) return [];
    return [{ schema, value, place, inputKey: key }];
  });
  if (!output.schema || findings.hasFaults) return defaults;
  return [...defaults, { schema: output.schema, value: null, place: places.output }];
}

/** The models that a check knows. */
export interface KnownModels {
  get(name: string): KnownModel | undefined;
  /** Explains in one line why a model is missing and how to get it. */
  explainMissing(name: string): string;
  /** The names of the options that providers share. */
  readonly settingNames: readonly string[];
}

/** One model that a check knows. */
export interface KnownModel {
  readonly model: string;
  readonly runOptions: readonly RunOption[];
  /** Returns true if the model ignores a setting that is not among its run options. */
  ignores(setting: string): boolean;
  /** Returns notes on options of `config` that the model doesn't take unchanged. */
  listConfigNotes(
    config: JsonObject,
  ): readonly { readonly option: string; readonly note: string }[];
  /** Returns notes on parts of an output schema that the model doesn't take. */
  listSchemaNotes(schema: JsonObject): readonly string[];
  /** A note for authors about the model, such as its shutdown date. */
  readonly note?: string | undefined;
}

/** The fields of a definition that a check of its model needs. */
type CheckedDefinition = Pick<
  PromptDefinition,
  'model' | 'providerModel' | 'config' | 'runOptions' | 'output' | 'places'
>;

/** The findings to which a check of a model adds, and its options. */
interface ModelCheckOptions extends Pick<CheckOptions, 'needsModel'> {
  readonly findings: Findings;
}

/** Checks that a prompt's model exists and takes the prompt's run options. */
export function checkModel(
  definition: CheckedDefinition,
  models: KnownModels,
  { findings, needsModel = true }: ModelCheckOptions,
): void {
  const { places, config, output } = definition;
  const name = resolveModel(definition, models);
  const model = models.get(name);
  if (!model) {
    for (const key of Object.keys(config)) {
      addMisspellingNote(definition, key, models.settingNames, findings);
    }
    const message = models.explainMissing(name);
    return needsModel
      ? findings.addFault(places.model, message)
      : findings.addNote(places.model, message);
  }

  if (model.note !== undefined) findings.addNote(places.model, model.note);

  for (const { option, note } of model.listConfigNotes(config)) {
    findings.addNote(places.config[option] ?? places.model, note);
  }

  for (const note of output.schema ? model.listSchemaNotes(output.schema) : []) {
    findings.addNote(places.output ?? places.model, note);
  }

  checkConfigOptions(definition, model, models.settingNames, findings);
}

/** Reports values of `config` that the model doesn't offer, and options without an effect. */
function checkConfigOptions(
  definition: CheckedDefinition,
  model: KnownModel,
  settingNames: readonly string[],
  findings: Findings,
): void {
  const { places, config } = definition;
  const runOptionKeys = model.runOptions.map(({ key }) => key);
  const knownOptions = [...runOptionKeys, ...settingNames];
  for (const key of Object.keys(config)) {
    const fault = findChoiceFault(definition, key, model);
    if (fault !== undefined) findings.addFault(places.config[key] ?? places.model, fault);

    if (model.ignores(key) && !runOptionKeys.includes(key)) {
      const note = describeIgnoredOption(key, model) + suggestOption(key, knownOptions);
      findings.addNote(places.config[key] ?? places.model, note);
    } else {
      addMisspellingNote(definition, key, knownOptions, findings);
    }
  }
}

/**
 * Returns the fault of a value that the model doesn't offer for an option; undefined if it offers
 * the value, or doesn't have the option.
 */
function findChoiceFault(
  { config, runOptions }: CheckedDefinition,
  key: string,
  model: KnownModel,
): string | undefined {
  const option = model.runOptions.find(runOption => runOption.key === key);
  const value = runOptions[key];
  if (!option || (value !== undefined && option.options.includes(value))) return undefined;
  const setting = value ?? JSON.stringify(config[key]);
  return `\`${key}\` of the model \`${model.model}\` is one of ${option.options.join(', ')}, not \`${setting}\``;
}

/** Adds a note on an option of `config` that is spelled almost like one of `knownOptions`. */
function addMisspellingNote(
  { places }: CheckedDefinition,
  key: string,
  knownOptions: readonly string[],
  findings: Findings,
): void {
  const suggestion = suggestOption(key, knownOptions);
  if (suggestion === '') return;
  const note = `\`${key}\` is not an option that providers share${suggestion}`;
  findings.addNote(places.config[key] ?? places.model, note);
}

/** Returns `; did you mean …?` with the option that was probably meant; empty if there is none. */
function suggestOption(key: string, knownOptions: readonly string[]): string {
  return knownOptions.includes(key) ? '' : didYouMean(key, knownOptions);
}

function describeIgnoredOption(key: string, { model, runOptions }: KnownModel): string {
  const optionNames = runOptions.map(runOption => runOption.key).join(', ');
  const modelOptions = optionNames === '' ? '' : `: it has ${optionNames}`;
  return `the model \`${model}\` ignores \`${key}\`${modelOptions}`;
}
