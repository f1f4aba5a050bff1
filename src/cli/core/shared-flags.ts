import type { FlagSpec, FlagsOf } from './command-spec.ts';

/** The flags of every command that prints the outputs of a run. */
export const OUTPUT_FLAGS = [
  ['--save [dir]', 'write the outputs to files as well; - writes the only one to standard output'],
  ['--force', 'overwrite files that exist'],
  ['--open', "open the outputs with the system's viewer"],
  ['--no-preview', 'no small previews of images'],
  ['--schema <file>', 'a JSON Schema the text output must match as JSON; exit 5 if it does not'],
] as const satisfies readonly FlagSpec[];

/** The flags of every command that takes inputs on the command line. */
export const INPUT_FLAGS = [
  ['-i, --input <key=value>', 'a text input, repeatable', { repeats: true, completes: 'inputs' }],
  ['--inputs <file>', 'inputs from a JSON or YAML file, - for standard input'],
  ['--image <file|url>', 'an image input, repeatable, in order; - for standard input', { repeats: true }],
] as const satisfies readonly FlagSpec[];

/** The flags for inputs that all rows share, of every command that runs rows. */
export const ROW_INPUT_FLAGS = [
  [
    '-i, --input <key=value>',
    'a text input of every row, repeatable',
    { repeats: true, completes: 'inputs' },
  ],
  ['--image <file|url>', 'an image of every row, repeatable', { repeats: true }],
  [
    '-o, --option <key=value>',
    'a run option of every row, repeatable',
    { repeats: true, completes: 'runOptions' },
  ],
] as const satisfies readonly FlagSpec[];

/** The flags of every command that creates runs. */
export const CAP_FLAGS = [
  ['--max-cost <dollars>', "create nothing that may cost more in all; this machine's own service only"],
  ['--max-credits <n>', 'create nothing that may take more credits in all'],
] as const satisfies readonly FlagSpec[];

/** The flag of every command that creates runs on this machine. */
export const MODELS_FLAG = [
  '--models <file>',
  'read models from this file too: programs and addresses among them are started and asked',
] as const satisfies FlagSpec;

/** The flags of every command that creates many runs. */
export const PACE_FLAGS = [
  ['--concurrency <n>', "creations open at a time (default: 4, 16 on this machine's own service)"],
  ['--rate <n>', 'requests a second, 0 for no limit (default: what the service says, else 5)'],
] as const satisfies readonly FlagSpec[];

/** The flags of every command that reads rows from a file. */
export const ROW_FORMAT_FLAGS = [
  ['--format <format>', 'what --from holds', { choices: ['csv', 'jsonl'] }],
  ['--delimiter <character>', 'what separates cells of CSV: , ; or tab (default: as the header has it)'],
] as const satisfies readonly FlagSpec[];

/** The flag of every command that works on the local store. */
export const DATABASE_FLAG = [
  '--database <url>',
  'keep everything in PostgreSQL (postgres://…); PROMPTRUN_DATABASE_URL does the same and shows no password',
] as const satisfies FlagSpec;

export type OutputFlags = FlagsOf<typeof OUTPUT_FLAGS>;
export type CapFlags = FlagsOf<typeof CAP_FLAGS>;
export type DatabaseFlags = FlagsOf<readonly [typeof DATABASE_FLAG]>;
