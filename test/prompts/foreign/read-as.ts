import { expect } from 'vitest';
import { convertForeign } from '../../../src/prompts/foreign/convert-foreign.ts';
import { parseAnyPrompt } from '../../../src/prompts/foreign/parse-any-prompt.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../../src/prompts/render/preview-prompt.ts';

type Inputs = Readonly<Record<string, string>>;

/** Reads a file of another format, and expects no fault in it. */
export function readAs(file: string, text: string, siblings: Inputs = {}) {
  const { findings, definition } = parseAnyPrompt(text, file, {
    readSibling: name => siblings[name],
  });
  expect(findings.list().filter(({ severity }) => severity === 'fault')).toEqual([]);
  if (!definition) throw new Error('nothing could be read');
  return definition;
}

/** Returns the messages to a model from a file of another format, each as `role: text`. */
export function renderForeign(
  file: string,
  text: string,
  inputs: Inputs = {},
  siblings: Inputs = {},
): string[] {
  return renderLines(readAs(file, text, siblings), inputs);
}

/** Reads the prompt file that a file of another format is converted to. */
export async function readConverted(file: string, text: string) {
  const converted = await convertForeign(text, file, { settingNames: [], directory: '.' });
  return parsePromptFile(converted.promptText, 'converted.prompt');
}

/** Returns the messages to a model from the converted file, like `renderForeign`. */
export async function renderConverted(
  file: string,
  text: string,
  inputs: Inputs = {},
): Promise<string[]> {
  return renderLines(await readConverted(file, text), inputs);
}

function renderLines(definition: ReturnType<typeof readAs>, inputs: Inputs): string[] {
  return previewPrompt(definition, { inputs }).messages.map(
    ({ role, content }) =>
      `${role}: ${content.map(part => ('text' in part ? part.text : '')).join('')}`,
  );
}

/** Returns the findings of a file, each as `severity line: message`. */
export function findingsIn(file: string, text: string): string[] {
  return parseAnyPrompt(text, file)
    .findings.list()
    .map(({ severity, line, message }) => `${severity} ${line}: ${message}`);
}
