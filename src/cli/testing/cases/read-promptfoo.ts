import path from 'node:path';
import type { ConversionNote, Converted } from '../../../prompts/foreign/converted.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { inTasks } from './in-tasks.ts';
import { MOST_TEST_FILE_BYTES } from './test-case.ts';

/** A configuration of promptfoo as a prompt file and a test file of ours. */
export interface ConvertedTests {
  readonly prompt: string;
  readonly test: string;
  /** The lines of its cases in the configuration. */
  readonly lines: readonly number[];
  /** Of the prompt among those of the configuration, from 1. */
  readonly number: number;
}

/**
 * Reads a configuration of promptfoo: its tests, once for each of its prompts.
 *
 * @param file absolute
 * @param name as messages name it
 * @throws {CliError} USAGE_ERROR that names every place that has no equivalent and could change a verdict
 */
export async function readPromptfoo(
  ctx: Context,
  { file, name, hasModels }: { readonly file: string; readonly name: string; readonly hasModels: boolean },
): Promise<ConvertedTests[]> {
  const text = await readTextFile(file, ctx.cwd, 'test', MOST_TEST_FILE_BYTES);
  const { PROVIDER_SETTINGS } = await import('../../../models/entry.ts');
  const convert = (prompt: number): Promise<Converted> =>
    inTasks(ctx, 'convert', {
      text,
      file: name,
      options: {
        settings: [...PROVIDER_SETTINGS],
        directory: path.dirname(file),
        prompt,
        allowOutside: ctx.globals.allowOutside,
      },
    });
  const first = await convert(1);
  if (first.prompts === undefined) {
    throw usageError(`${name} is not a configuration of promptfoo`, 'Rename it, or name the files to test.');
  }
  refuseDeclared(name, first.models);
  refuseUnsupported(first.notes);
  if (!hasModels && first.isWithoutModel) {
    throw usageError(`${name}: none of its providers is known`, 'Name a model with -m.');
  }
  if (first.test === undefined) throw usageError(`${name} has no tests: there is nothing to test`);
  const converted = [first];
  for (let number = 2; number <= first.prompts; number += 1) converted.push(await convert(number));
  return converted.map(({ prompt, test = '', lines = [] }, at) => ({ prompt, test, lines, number: at + 1 }));
}

function refuseUnsupported(notes: readonly ConversionNote[]): void {
  const places = notes
    .filter(({ isHarmless }) => isHarmless !== true)
    .map(({ file, line, message }) => `${oneLine(file)}:${line}: ${oneLine(message)}`);
  if (places.length === 0) return;
  throw usageError(places.join('\n'), 'Nothing of it was sent.');
}

/** Programs and addresses stand in a models file, which the user names. */
function refuseDeclared(name: string, models: string | undefined): void {
  if (models === undefined) return;
  throw usageError(
    `${name} runs programs or addresses as providers. As entries of a models file:\n${models.trimEnd()}`,
    'If you trust the file, convert it: promptrun prompts new <name> --from it writes the models file too.',
  );
}
