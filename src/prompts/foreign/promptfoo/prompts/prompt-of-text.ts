import { FileFault } from '../../../../files/formats/file-fault.ts';
import { InvalidPromptFileError } from '../../../findings.ts';
import type { PromptProgram, PromptTemplate } from '../../converted-prompt.ts';
import { formatPromptFile } from '../../file-texts.ts';
import { withBlanks } from './prompt-body.ts';
import { parsePromptMessages } from './prompt-messages.ts';

/**
 * Returns the prompt file for the output of a program, or for a rendered template, in which no
 * brace is a tag.
 *
 * @throws {InvalidPromptFileError} if it can't be expressed
 */
export function convertRenderedPrompt(
  text: string,
  promptSource: PromptProgram | PromptTemplate,
  file: string,
): string {
  const { frontMatter, optionalInputs, line } = promptSource;
  try {
    const template = 'text' in promptSource ? promptSource.text : undefined;
    const body = parsePromptMessages({ place: { file, line, column: 1 }, text }, { template });
    const keptBody = template === undefined ? body : withBlanks(body);
    return formatPromptFile(frontMatter, keptBody, { optional: optionalInputs });
  } catch (error) {
    throw error instanceof FileFault
      ? new InvalidPromptFileError(error.file ?? file, error.line, error.problem)
      : error;
  }
}
