import type { FlagSpec, FlagsOf } from './command-spec.ts';

/** The flags of every command that prints the outputs of a run. */
export const OUTPUT_FLAGS = [
  ['--save [dir]', 'also write the outputs to files; - writes the only output to standard output'],
  ['--force', 'overwrite existing files'],
  ['--open', "open the outputs with the system's viewer"],
  ['--no-preview', 'show no previews of images'],
  [
    '--schema <file>',
    'require text output that is JSON and matches this JSON Schema; exit 5 if not',
  ],
] as const satisfies readonly FlagSpec[];

/** The flags of every command that takes inputs on the command line. */
export const INPUT_FLAGS = [
  ['-i, --input <key=value>', 'a text input; repeatable', { repeats: true, completes: 'inputs' }],
  ['--inputs <file>', 'inputs from a JSON or YAML file, - for standard input'],
  [
    '--image <file|url>',
    'an image input; repeatable, in order; - for standard input',
    { repeats: true },
  ],
] as const satisfies readonly FlagSpec[];

/** The flags for inputs that all rows share, of every command that runs rows. */
export const ROW_INPUT_FLAGS = [
  [
    '-i, --input <key=value>',
    'a text input for every row; repeatable',
    { repeats: true, completes: 'inputs' },
  ],
  ['--image <file|url>', 'an image for every row; repeatable', { repeats: true }],
  [
    '-o, --option <key=value>',
    'a run option for every row; repeatable',
    { repeats: true, completes: 'runOptions' },
  ],
] as const satisfies readonly FlagSpec[];

/** The flags of every command that creates runs. */
export const CAP_FLAGS = [
  [
    '--max-cost <dollars>',
    'create nothing that could exceed this total cost; embedded service only',
  ],
  ['--max-credits <n>', 'create nothing that could exceed this total of credits'],
] as const satisfies readonly FlagSpec[];

/** The flag of every command that creates runs on this machine. */
export const MODELS_FLAG = [
  '--models <file>',
  'also read models from this file; it may start programs and send requests to addresses',
] as const satisfies FlagSpec;

/** The flags of every command that creates many runs. */
export const PACE_FLAGS = [
  ['--concurrency <n>', 'maximum number of open creations (default: 4; embedded service: 16)'],
  [
    '--rate <n>',
    "maximum requests per second, 0 for no limit (default: the service's limit, or 5)",
  ],
] as const satisfies readonly FlagSpec[];

/** The flags of every command that reads rows from a file. */
export const ROW_FORMAT_FLAGS = [
  ['--format <format>', 'the format of --from', { choices: ['csv', 'jsonl'] }],
  [
    '--delimiter <character>',
    'the separator of CSV cells: , ; or tab (default: detected in the header)',
  ],
] as const satisfies readonly FlagSpec[];

/** The flag of every command that works on the local store. */
export const DATABASE_FLAG = [
  '--database <url>',
  'use the store in this PostgreSQL database (postgres://…); PROMPTRUN_DATABASE_URL keeps its password out of process lists',
] as const satisfies FlagSpec;

/** The flag of every command that can use a provider's batch API. */
export const PROVIDER_BATCH_FLAG = [
  '--provider-batch',
  "use the provider's batch API: answers within a day, at half the price",
] as const satisfies FlagSpec;

/** The flag that goes with `--provider-batch`. */
export const CANCEL_FLAG = [
  '--cancel',
  'with --resume: cancel requests that the provider has not answered',
] as const satisfies FlagSpec;

export type OutputFlags = FlagsOf<typeof OUTPUT_FLAGS>;
export type CapFlags = FlagsOf<typeof CAP_FLAGS>;
export type DatabaseFlags = FlagsOf<readonly [typeof DATABASE_FLAG]>;
