import { PYTHON_COMMAND } from '../../python-command.ts';
import type { ConversionContext } from '../conversion-context.ts';
import {
  isUnloadableTypeScript,
  NEEDS_TYPESCRIPT_LOADER,
  splitCommandLine,
} from '../files/program-files.ts';
import type { SourcePlace } from '../files/source-files.ts';
import {
  NODE_PROMPT_FUNCTION,
  NODE_PROMPT_PROGRAM,
  PYTHON_PROMPT,
} from '../programs/prompt-programs.ts';
import type { ConfiguredPrompt } from './configured-prompt.ts';

/** Matches a file with the name of a function, such as `file://prompts/greet.py:make_prompt`. */
const PROMPT_FUNCTION =
  /^(?:file:\/\/)?(?<file>[^*?]*\.(?:[cm]?[jt]s|py))(?::(?<functionName>[\w.]+))?$/u;

/**
 * Matches code that reads the label of a prompt's provider: `provider.label`, `provider?.label`,
 * `context["provider"]["label"]` and `context.get("provider", {}).get("label")`.
 */
const PROVIDER_LABEL_USE =
  /\bprovider\b\s*\??\.\s*label\b|["']provider["'](?:\]|, *\{\}\)|\))(?:\[|\.get\()["']label["']/gu;

/**
 * Matches code that reads anything of a prompt's provider, such as `provider.id` or `"provider"`.
 */
const PROVIDER_USE = /\bprovider\b\s*(?:\?\.|\.|\[)|["']provider["']/u;

/** The program that makes a prompt, or the reason that it can't be run. */
type ProgramPrompt = Pick<ConfiguredPrompt, 'program' | 'readsLabel' | 'fault'>;

/** Returns the program that makes a prompt; undefined for a prompt that is a text or a file. */
export function findProgramPrompt(
  promptText: string,
  place: SourcePlace,
  conversion: ConversionContext,
): ProgramPrompt | undefined {
  const { directory } = conversion;
  if (promptText.startsWith('exec:')) {
    const words = splitCommandLine(promptText.slice('exec:'.length));
    return { program: ['node', '-e', NODE_PROMPT_PROGRAM, directory, ...words] };
  }

  const { file = '', functionName = '' } = PROMPT_FUNCTION.exec(promptText)?.groups ?? {};
  if (file === '' || /\s/u.test(promptText)) return undefined;

  const { text: code } = conversion.files.read(file, place);

  if (isUnloadableTypeScript(file, conversion)) {
    return { fault: `the prompt ${promptText} is TypeScript, which ${NEEDS_TYPESCRIPT_LOADER}` };
  }

  const codeWithoutLabels = code.replaceAll(PROVIDER_LABEL_USE, '');
  if (PROVIDER_USE.test(codeWithoutLabels)) {
    return {
      fault: `the prompt ${promptText} depends on its provider, which has no equivalent`,
    };
  }

  const readsLabel = codeWithoutLabels !== code;
  return file.endsWith('.py')
    ? { program: [PYTHON_COMMAND, '-c', PYTHON_PROMPT, directory, file, functionName], readsLabel }
    : { program: ['node', '-e', NODE_PROMPT_FUNCTION, directory, file, functionName], readsLabel };
}
