import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PROVIDER_SETTINGS } from '../../../../src/models/model-entry.ts';
import { convertForeign } from '../../../../src/prompts/foreign/convert-foreign.ts';
import type { ConvertedPrompt } from '../../../../src/prompts/foreign/converted-prompt.ts';
import { parsePromptFile } from '../../../../src/prompts/parse/parse-prompt.ts';
import { previewPrompt } from '../../../../src/prompts/render/preview-prompt.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import { hasLinks } from '../../../support/system.ts';

export interface ConvertOptions {
  /** Files beside the configuration, by their names. */
  readonly files?: Readonly<Record<string, string>>;
  /** The number of the prompt to convert, from 1. */
  readonly promptNumber?: number;
  readonly allowOutside?: boolean;
  readonly isForTest?: boolean;
  readonly allowCommands?: boolean;
}

/**
 * Converts a configuration of promptfoo in a directory with these files, and with some that it may
 * not read.
 */
export async function convert(
  config: string,
  { files = {}, ...options }: ConvertOptions = {},
): Promise<ConvertedPrompt> {
  const directory = path.join(createTemporaryDirectory(), 'in');
  await mkdir(path.join(directory, 'sub'), { recursive: true });
  await writeFile(path.join(directory, '..', 'outside.txt'), 'secret {{a}}');
  await writeFile(path.join(directory, 'wide.txt'), '\uFEFFa', 'utf16le');
  if (hasLinks) await symlink('../outside.txt', path.join(directory, 'link.txt'));

  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(directory, name), text);
  }

  return await convertForeign(config, 'in/promptfooconfig.yaml', {
    directory,
    settingNames: [...PROVIDER_SETTINGS],
    ...options,
  });
}

interface ConvertedCase {
  readonly name: string;
  readonly inputs?: Record<string, string>;
  readonly expect?: unknown[];
}

/** Returns the cases of the test file that the configuration becomes. */
export function parseCases({ testContent }: ConvertedPrompt): ConvertedCase[] {
  return ((testContent ?? { cases: [] }) as unknown as { cases: ConvertedCase[] }).cases;
}

/** Returns all that is said about the conversion, as `file:line: message`. */
export function noteLines({ notes }: ConvertedPrompt): string[] {
  return notes.map(({ file, line, message }) => `${file}:${line}: ${message}`);
}

/** Returns the messages about what would be tested otherwise than promptfoo does. */
export function faultMessages({ notes }: ConvertedPrompt): string[] {
  return notes.filter(({ isHarmless }) => !isHarmless).map(({ message }) => message);
}

/** Returns the role and the text of each message to a model. */
export function renderMessages(
  { promptText }: ConvertedPrompt,
  inputs: Record<string, string> = {},
): string[][] {
  const { messages } = previewPrompt(parsePromptFile(promptText, 'x.prompt'), { inputs });
  return messages.map(({ role, content }) => [
    role,
    content.map(part => ('text' in part ? part.text : '')).join(''),
  ]);
}

/** The entry of a configuration whose provider doesn't matter. */
export const PROVIDERS = 'providers: [openai:gpt-4o]\n';
