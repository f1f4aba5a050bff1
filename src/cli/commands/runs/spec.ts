import type { CommandSpec, FlagSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, MODELS_FLAG, OUTPUT_FLAGS } from '../../core/shared-flags.ts';

const RUN_NAMES =
  'A run is named by its id, a beginning of it (6 characters or more) that no other run has, or --last.';

const LAST = ['--last', 'the run started last on this machine'] as const satisfies FlagSpec;

const RUNS_LIST_SPEC = {
  summary: 'your runs, newest first',
  flags: [
    ['--limit <n>', 'how many at most (default: 10)'],
    ['--all', 'all of them'],
    [
      '--status <status>',
      'only queued, running, succeeded or failed ones',
      { completes: ['queued', 'running', 'succeeded', 'failed'] },
    ],
    ['--since <time>', 'only those created at or after this time'],
    ['--until <time>', 'only those created before this time'],
    ['--starting-after <runId>', 'only those created before this run'],
    ['--ending-before <runId>', 'only those created after this run'],
    ['--prompt <prompt>', 'only those of this prompt, any version of it'],
    ['--ndjson', 'one JSON object a line, as pages arrive'],
  ],
  examples: ['runs list', 'runs list --status failed --since 7d', 'runs list --all --ndjson | jq .runId'],
  notes: `Times are Unix seconds, ISO 8601 or an age such as 90s, 30m, 2h, 7d, 4w.
Piped, a line is: run id, status, time, credits (- if free), prompt version, name.
With --ndjson, --query is applied to each row.`,
} as const satisfies Omit<CommandSpec, 'path'>;

export const RUNS = {
  path: 'runs',
  ...RUNS_LIST_SPEC,
  summary: 'list, read, await and save runs',
  examples: ['runs', 'runs list --status failed', 'runs wait --last'],
} as const satisfies CommandSpec;

export const RUNS_LIST = { path: 'runs list', ...RUNS_LIST_SPEC } as const satisfies CommandSpec;

export const RUNS_GET = {
  path: 'runs get',
  summary: 'the outputs of a run, as run gives them',
  arguments: [['[run]', 'which run']],
  flags: [LAST, ...OUTPUT_FLAGS],
  examples: [
    'runs get 5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55',
    'runs get 5f0c8f --query runStatus',
    'runs get --last --save pictures',
  ],
  notes: RUN_NAMES,
} as const satisfies CommandSpec;

export const RUNS_SHOW = {
  path: 'runs show',
  summary: 'the facts of a run: status, prompt, name, times, credits, tokens',
  arguments: [['[run]', 'which run']],
  flags: [LAST],
  examples: ['runs show 5f0c8f0e', 'runs show --last --query credits'],
  notes: `${RUN_NAMES}
Name, time and credits are known of the newest 50 runs. Piped, a line is: what, and its value.`,
} as const satisfies CommandSpec;

export const RUNS_WAIT = {
  path: 'runs wait',
  summary: 'wait until a run ends, then give its outputs',
  arguments: [['[run...]', 'which runs']],
  flags: [LAST, ...OUTPUT_FLAGS],
  examples: [
    'runs wait 5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55',
    'runs wait 5f0c8f 6f0c8f --json',
    'runs wait --last --timeout 10m --save pictures',
  ],
  notes: RUN_NAMES,
} as const satisfies CommandSpec;

export const RUNS_CANCEL = {
  path: 'runs cancel',
  summary: 'end runs that have not ended, of the local service',
  arguments: [['[run...]', 'which runs']],
  flags: [LAST],
  examples: ['runs cancel 5f0c8f0e', 'runs cancel --last'],
  notes: `A cancelled run has failed; what its model still answers is dropped, and may have been paid for.
${RUN_NAMES}`,
} as const satisfies CommandSpec;

export const RUNS_RERUN = {
  path: 'runs rerun',
  summary: 'the same run once more, with what you change',
  arguments: [['[run]', 'which run, or the file that --save wrote of it']],
  flags: [
    LAST,
    ['-m, --model <model>', "another model; this machine's own service only"],
    ['-i, --input <key=value>', 'a text input to change, repeatable', { repeats: true }],
    [
      '-o, --option <key=value>',
      'a run option to change, repeatable',
      { repeats: true, completes: 'runOptions' },
    ],
    ['--image <file|url>', 'the image inputs in order, in place of the former', { repeats: true }],
    ['--other-images', 'images may differ from those of the run'],
    ['--no-validate', 'send unknown inputs and run options'],
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
  notes: `The local service keeps what a run was created from, its pictures for a day. For a run of another service give the file \
that --save wrote: images are to be given again, and must be the same unless --other-images says otherwise.
${RUN_NAMES}`,
} as const satisfies CommandSpec;

export const RUNS_SAVE = {
  path: 'runs save',
  summary: 'write the outputs of runs to files',
  arguments: [['[run...]', 'which runs']],
  flags: [
    LAST,
    [
      '--since <time>',
      'every run created at or after this time: Unix seconds, ISO 8601 or an age such as 2h',
    ],
    ['--to <dir>', 'where to; - writes the only output of one run to standard output'],
    ['--force', 'overwrite files that exist'],
    ['--open', "open the outputs with the system's viewer"],
    ['--no-preview', 'no small previews of images'],
  ],
  examples: [
    'runs save --last',
    'runs save 5f0c8f0e 7a1d22 --to pictures --force',
    'runs save --since 12h --to pictures',
    'runs save --last --to - > postcard.png',
  ],
  notes: `${RUN_NAMES}
Without --to they go to the current directory, or that of the setting saveDir. URLs of generated media live 24 hours.`,
} as const satisfies CommandSpec;

export const RUNS_JOURNAL = {
  path: 'runs journal',
  summary: 'runs started on this machine',
  examples: ['runs journal', 'runs journal --query "[?inDoubt]"'],
  notes: `A creation is in doubt if no answer came: it may have made a run. \`promptrun runs wait --last\` looks for the latest.
Piped, a line is: time, status, run id (- if not known), prompt version, base URL.`,
} as const satisfies CommandSpec;
