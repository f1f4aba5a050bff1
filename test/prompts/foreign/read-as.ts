import { expect } from 'vitest';
import { convertForeign } from '../../../src/prompts/foreign/convert-foreign.ts';
import { parseAnyPrompt } from '../../../src/prompts/foreign/parse-any-prompt.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../../src/prompts/render/preview-prompt.ts';

type Inputs = Readonly<Record<string, string>>;

/** Reads a file of another form, which must be without a fault. */
export function readAs(file: string, text: string, others: Inputs = {}) {
  const { findings, definition } = parseAnyPrompt(text, file, {
    readSibling: name => others[name],
  });
  expect(findings.list().filter(({ severity }) => severity === 'fault')).toEqual([]);
  if (!definition) throw new Error('nothing could be read');
  return definition;
}

/** Returns the messages to a model from a file of another form, one per line: `role: text`. */
export function renderForeign(
  file: string,
  text: string,
  inputs: Inputs = {},
  others: Inputs = {},
): string[] {
  return renderLines(readAs(file, text, others), inputs);
}

/** Reads the prompt file that such a file is converted to. */
export async function readConverted(file: string, text: string) {
  const converted = await convertForeign(text, file, { settingNames: [], directory: '.' });
  return parsePromptFile(converted.promptText, 'converted.prompt');
}

/** Returns the messages from the prompt file that such a file is converted to. */
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

/** Returns the findings of a file, a line for each. */
export function findingsIn(file: string, text: string): string[] {
  return parseAnyPrompt(text, file)
    .findings.list()
    .map(({ severity, line, message }) => `${severity} ${line}: ${message}`);
}
