import type { CommandSpec, FlagSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, MODELS_FLAG, OUTPUT_FLAGS } from '../../core/shared-flags.ts';

const RUN_NAMES_NOTE =
  'Name a run by its id, by a unique beginning of the id (at least 6 characters), or by --last.';

const LAST_FLAG = ['--last', 'the last run started on this machine'] as const satisfies FlagSpec;

const RUNS_LIST_FIELDS = {
  summary: 'list your runs, newest first',
  flags: [
    ['--limit <n>', 'maximum number of runs (default: 10)'],
    ['--all', 'list all runs'],
    [
      '--status <status>',
      'only runs with this status: queued, running, succeeded or failed',
      { completes: ['queued', 'running', 'succeeded', 'failed'] },
    ],
    ['--since <time>', 'only runs created at or after this time'],
    ['--until <time>', 'only runs created before this time'],
    ['--starting-after <runId>', 'only runs created before this run'],
    ['--ending-before <runId>', 'only runs created after this run'],
    ['--prompt <prompt>', 'only runs of this prompt, in any version'],
    ['--ndjson', 'print one JSON object per line, as pages arrive'],
  ],
  examples: [
    'runs list',
    'runs list --status failed --since 7d',
    'runs list --all --ndjson | jq .runId',
  ],
  notes: `Times are Unix seconds, ISO 8601 or an age such as 90s, 30m, 2h, 7d, 4w.
Columns when piped: run id, status, time, credits (- if free), prompt version, name.
With --ndjson, --query applies to each row.`,
} as const satisfies Omit<CommandSpec, 'path'>;

export const RUNS = {
  path: 'runs',
  ...RUNS_LIST_FIELDS,
  summary: 'list, read, wait for, repeat and save runs',
  examples: ['runs', 'runs list --status failed', 'runs wait --last'],
} as const satisfies CommandSpec;

export const RUNS_LIST = { path: 'runs list', ...RUNS_LIST_FIELDS } as const satisfies CommandSpec;

export const RUNS_GET = {
  path: 'runs get',
  summary: 'print the outputs of a run, as promptrun run does',
  arguments: [['[run]', 'the run']],
  flags: [LAST_FLAG, ...OUTPUT_FLAGS],
  examples: [
    'runs get 5f0c8f0e',
    'runs get 5f0c8f --query runStatus',
    'runs get --last --save pictures',
  ],
  notes: RUN_NAMES_NOTE,
} as const satisfies CommandSpec;

export const RUNS_SHOW = {
  path: 'runs show',
  summary: 'show the status, prompt, name, times, credits and tokens of a run',
  arguments: [['[run]', 'the run']],
  flags: [LAST_FLAG],
  examples: ['runs show 5f0c8f0e', 'runs show --last --query credits'],
  notes: `${RUN_NAMES_NOTE}
Name, time and credits are available for the newest 50 runs. Columns when piped: field, value.`,
} as const satisfies CommandSpec;

export const RUNS_WAIT = {
  path: 'runs wait',
  summary: 'wait for runs to end, then print their outputs',
  arguments: [['[run...]', 'the runs']],
  flags: [LAST_FLAG, ...OUTPUT_FLAGS],
  examples: [
    'runs wait 5f0c8f0e',
    'runs wait 5f0c8f 6f0c8f --json',
    'runs wait --last --timeout 10m --save pictures',
  ],
  notes: RUN_NAMES_NOTE,
} as const satisfies CommandSpec;

export const RUNS_CANCEL = {
  path: 'runs cancel',
  summary: 'cancel unfinished runs of the local service',
  arguments: [['[run...]', 'the runs']],
  flags: [LAST_FLAG],
  examples: ['runs cancel 5f0c8f0e', 'runs cancel --last'],
  notes: `A cancelled run counts as failed. A late answer of the model is dropped, but may still be charged.
${RUN_NAMES_NOTE}`,
} as const satisfies CommandSpec;

export const RUNS_RERUN = {
  path: 'runs rerun',
  summary: 'run the same request again, with your changes',
  arguments: [['[run]', 'the run, or the <runId>.json that --save wrote']],
  flags: [
    LAST_FLAG,
    ['-m, --model <model>', 'use this model; embedded service only'],
    ['-i, --input <key=value>', 'change a text input; repeatable', { repeats: true }],
    [
      '-o, --option <key=value>',
      'change a run option; repeatable',
      { repeats: true, completes: 'runOptions' },
    ],
    ['--image <file|url>', 'replace the images, in order; repeatable', { repeats: true }],
    ['--other-images', "allow images that differ from the run's"],
    ['--no-validate', 'send inputs and run options even if they are unknown'],
    ['--compare', 'show both outputs side by side, with their differences'],
    MODELS_FLAG,
    ...CAP_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    'runs rerun --last',
    'runs rerun 5f0c8f0e -m openai/gpt-6-luna --compare',
    'runs rerun ./5f0c8f0e-….json --image photo.jpg',
  ],
  notes: `The local service keeps the request of each run, and its images for a day. For a run of another service, name the file \
that --save wrote and pass its images again. They must be the same images, unless you add --other-images.
${RUN_NAMES_NOTE}`,
} as const satisfies CommandSpec;

export const RUNS_SAVE = {
  path: 'runs save',
  summary: 'write the outputs of runs to files',
  arguments: [['[run...]', 'the runs']],
  flags: [
    LAST_FLAG,
    [
      '--since <time>',
      'save every run created at or after this time: Unix seconds, ISO 8601 or an age such as 2h',
    ],
    [
      '--to <dir>',
      'the directory to write to; - writes the only output of one run to standard output',
    ],
    ['--force', 'overwrite existing files'],
    ['--open', "open the outputs with the system's viewer"],
    ['--no-preview', 'show no previews of images'],
  ],
  examples: [
    'runs save --last',
    'runs save 5f0c8f0e 7a1d22 --to pictures --force',
    'runs save --since 12h --to pictures',
    'runs save --last --to - > postcard.png',
  ],
  notes: `${RUN_NAMES_NOTE}
Without --to, files go to the directory in the setting saveDir, or else to the current one. URLs of generated media \
expire after 24 hours.`,
} as const satisfies CommandSpec;

export const RUNS_JOURNAL = {
  path: 'runs journal',
  summary: 'list the runs started on this machine',
  examples: ['runs journal', 'runs journal --query "[?inDoubt]"'],
  notes: `A creation without an answer is in doubt: it may have created a run. promptrun runs wait --last looks for the latest one.
Columns when piped: time, status, run id (- if unknown), prompt version, base URL.`,
} as const satisfies CommandSpec;
