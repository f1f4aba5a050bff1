import { FileFault, faultAt } from '../../../files/file-fault.ts';
import type { JsonObject } from '../../../files/json.ts';
import { parseYaml, type YamlValue } from '../../../files/yaml.ts';
import { InvalidPromptFile } from '../../findings.ts';
import { inputsIn, type Piece } from '../as-template.ts';
import {
  type Converted,
  type ConvertOptions,
  modelsFileText,
  promptFileText,
  testFileText,
} from '../converted.ts';
import { messagesOf, type PromptText, promptsOf } from './prompts.ts';
import { providersOf } from './providers.ts';
import { Conversion } from './source.ts';
import { casesOf } from './tests.ts';

const KEYS = [
  'description',
  'prompts',
  'providers',
  'targets',
  'tests',
  'defaultTest',
  'scenarios',
  '$schema',
  // These change no verdict.
  'tags',
  'metadata',
  'outputPath',
  'sharing',
  'tracing',
  'redteam',
  'evaluateOptions',
];

/**
 * Writes a configuration of promptfoo as a prompt file and its test file.
 *
 * @throws {InvalidPromptFile} whose message names file and line, for a prompt that a prompt file can't express
 */
export async function convertPromptfoo(
  text: string,
  file: string,
  options: ConvertOptions,
): Promise<Converted> {
  try {
    return await convert(parseYaml(text, 1, file), options, new Conversion(options, file));
  } catch (error) {
    throw error instanceof FileFault
      ? new InvalidPromptFile(error.file ?? file, error.line, error.what)
      : error;
  }
}

async function convert(root: YamlValue, options: ConvertOptions, conversion: Conversion): Promise<Converted> {
  const entries = root.valuesByKey('a configuration of promptfoo');
  conversion.noteUnknown(entries, KEYS, '');
  const listed = entries.get('prompts');
  const prompts = listed ? promptsOf(listed, conversion) : [];
  const body = bodyOf(listed ?? root, prompts, options, conversion);
  const inputs = inputsIn(body);
  const {
    models,
    config,
    output,
    entries: declared,
  } = providersOf(entries.get('providers') ?? entries.get('targets'), conversion);
  const description = entries.get('description')?.scalar;
  const head: JsonObject = {
    ...(description !== undefined && { description }),
    ...(models[0] !== undefined && { model: models[0] }),
    ...(Object.keys(config).length > 0 && { config }),
    ...(output && { output }),
  };
  const tests = await casesOf(entries, inputs, conversion);
  const cases = tests.map(({ text }) => text);
  return {
    prompt: promptFileText(head, body),
    test: cases.length === 0 ? undefined : testFileText({ ...(models.length > 1 && { models }), cases }),
    ...(declared.length > 0 && { models: modelsFileText(declared) }),
    notes: conversion.notes,
    prompts: prompts.length,
    isWithoutModel: models.length === 0,
    lines: tests.map(({ line }) => line),
  };
}

function bodyOf(
  at: YamlValue,
  prompts: readonly PromptText[],
  { prompt: wanted }: ConvertOptions,
  conversion: Conversion,
): Piece[] {
  const prompt = prompts[(wanted ?? 1) - 1];
  if (!prompt) {
    const what =
      prompts.length === 0
        ? 'there is no prompt'
        : `there are ${prompts.length} prompts, and no prompt ${wanted}`;
    throw faultAt(at, what);
  }
  if (prompts.length > 1 && wanted === undefined) {
    conversion.tell(
      at,
      `there are ${prompts.length} prompts, and this is the first: --prompt <n> converts another`,
    );
  }
  return messagesOf(prompt);
}
