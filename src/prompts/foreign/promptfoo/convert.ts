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
import { messagesOf, promptsOf } from './prompts.ts';
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
  const body = bodyOf(root, entries.get('prompts'), options, conversion);
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
  const cases = await casesOf(entries, inputs, conversion);
  return {
    prompt: promptFileText(head, body),
    test: cases.length === 0 ? undefined : testFileText({ ...(models.length > 1 && { models }), cases }),
    ...(declared.length > 0 && { models: modelsFileText(declared) }),
    notes: conversion.notes,
  };
}

function bodyOf(
  root: YamlValue,
  node: YamlValue | undefined,
  { prompt: wanted }: ConvertOptions,
  conversion: Conversion,
): Piece[] {
  const prompts = node ? promptsOf(node, conversion) : [];
  const prompt = prompts[(wanted ?? 1) - 1];
  if (!prompt) {
    const what =
      prompts.length === 0
        ? 'there is no prompt'
        : `there are ${prompts.length} prompts, and no prompt ${wanted}`;
    throw faultAt(node ?? root, what);
  }
  if (prompts.length > 1 && node && wanted === undefined) {
    conversion.note(
      node,
      `there are ${prompts.length} prompts, and this is the first: --prompt <n> converts another`,
    );
  }
  return messagesOf(prompt);
}
