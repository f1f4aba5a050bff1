import { PYTHON } from '../../python.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { isUnreadable, NEEDS_TYPES, splitCommandLine } from '../files/program-files.ts';
import type { Located } from '../files/source-files.ts';
import {
  NODE_PROMPT_FUNCTION,
  NODE_PROMPT_PROGRAM,
  PYTHON_PROMPT,
} from '../programs/prompt-programs.ts';
import type { ConfiguredPrompt } from './configured-prompt.ts';

/** Returns a prompt that a program makes; undefined if no program makes it. */
export function findProgramPrompt(
  promptText: string,
  at: Located,
  conversion: ConversionContext,
): Omit<ConfiguredPrompt, 'label'> | undefined {
  const { directory } = conversion;
  if (promptText.startsWith('exec:')) {
    const words = splitCommandLine(promptText.slice('exec:'.length));
    return { at, text: '', program: ['node', '-e', NODE_PROMPT_PROGRAM, directory, ...words] };
  }

  const { file = '', name = '' } = PROMPT_FUNCTION.exec(promptText)?.groups ?? {};
  if (file === '' || /\s/u.test(promptText)) return undefined;

  const { text: code } = conversion.files.read(file, at);

  if (isUnreadable(file, conversion)) {
    return { at, text: '', fault: `the prompt ${promptText} is TypeScript, which ${NEEDS_TYPES}` };
  }

  const codeWithoutLabels = code.replaceAll(READS_LABEL, '');
  if (READS_PROVIDER.test(codeWithoutLabels)) {
    const fault = `the prompt ${promptText} depends on its provider, which has no equivalent`;
    return { at, text: '', fault };
  }

  const program = file.endsWith('.py')
    ? ([PYTHON, '-c', PYTHON_PROMPT, directory, file, name] as const)
    : (['node', '-e', NODE_PROMPT_FUNCTION, directory, file, name] as const);
  return { at, text: '', program, readsLabel: codeWithoutLabels !== code };
}

/** Matches a file of JavaScript, TypeScript or Python, with the name of a function. */
const PROMPT_FUNCTION = /^(?:file:\/\/)?(?<file>[^*?]*\.(?:[cm]?[jt]s|py))(?::(?<name>[\w.]+))?$/u;

/** Matches code that reads the label of a prompt's provider. */
const READS_LABEL =
  /\bprovider\b\s*\??\.\s*label\b|["']provider["'](?:\]|, *\{\}\)|\))(?:\[|\.get\()["']label["']/gu;

/** Matches code that reads the provider of a prompt. */
const READS_PROVIDER = /\bprovider\b\s*(?:\?\.|\.|\[)|["']provider["']/u;
