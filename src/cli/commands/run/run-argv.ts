import type { FlagsOf } from '../../core/command-spec.ts';
import type { GlobalOptions } from '../../core/global-options.ts';
import type { QuestionAnswers } from '../../inputs/ask-for-inputs.ts';
import { escapeLiteralValue } from '../../inputs/flag-values.ts';
import { formatServiceFlags } from '../../terminal/command-line.ts';
import { isWritable, quoteIfNeeded, type Shell } from '../../terminal/shell-words.ts';
import type { RUN } from './spec.ts';

export type RunFlags = FlagsOf<typeof RUN.flags>;

/**
 * Returns the argv of a command that repeats a run without questions: with the flags, and with the
 * answers as inputs and images.
 */
export function buildRunArgv(
  globals: GlobalOptions,
  target: string,
  flags: RunFlags,
  answers: QuestionAnswers,
): string[] {
  const { input, image, option, save } = flags;
  const switches = {
    '--no-validate': !flags.validate,
    '--no-wait': !flags.wait,
    '--no-stream': !flags.stream,
    '--no-preview': !flags.preview,
    '--save': save === true,
    '--force': flags.force,
    '--open': flags.open,
    '--dry-run': flags.dryRun,
    '--allow-outside': globals.allowOutside,
    '--allow-private': globals.allowPrivate,
  };
  const switchFlags = Object.entries(switches).flatMap(([word, isOn]) =>
    isOn === true ? [word] : [],
  );
  const answerPairs = answers.text.map(([key, value]) => `${key}=${escapeLiteralValue(value)}`);

  return [
    'promptrun',
    'run',
    target,
    ...repeatFlag('-i', [...input, ...answerPairs]),
    ...toOptionalFlag('--inputs', flags.inputs),
    ...repeatFlag('--image', [...image, ...answers.images]),
    ...toOptionalFlag('-m', flags.model),
    ...toOptionalFlag('--models', globals.models),
    ...repeatFlag('-o', option),
    ...switchFlags,
    ...toOptionalFlag('--max-cost', flags.maxCost),
    ...toOptionalFlag('--max-credits', flags.maxCredits),
    ...toOptionalFlag('--schema', flags.schema),
    ...toOptionalFlag('--save', save === true ? undefined : save),
    ...formatServiceFlags(globals),
    ...(globals.json && globals.query === undefined ? ['--json'] : []),
    ...toOptionalFlag('--query', globals.query),
  ];
}

function repeatFlag(flag: string, values: readonly string[]): string[] {
  return values.flatMap(value => [flag, value]);
}

function toOptionalFlag(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [flag, value];
}

/**
 * Returns an argv as one line that a shell reads back as the same words. Undefined if that is
 * impossible: no argument can contain a NUL, and no command line of cmd.exe a line break.
 */
export function formatShellCommand(words: readonly string[], shell: Shell): string | undefined {
  return words.every(word => isWritable(word, shell))
    ? words.map(word => quoteIfNeeded(word, shell)).join(' ')
    : undefined;
}
