import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG, INPUT_FLAGS } from '../../core/shared-flags.ts';

const PROMPT_COLUMNS_NOTE =
  'Columns when piped: slug, prompt version, prompt, modality, estimated credits, time, title, description.';

export const PROMPTS = {
  path: 'prompts',
  aliases: ['prompt'],
  summary: 'find, read, check and publish prompts',
  examples: ['prompts', 'prompts get hello', 'prompts new haiku.prompt'],
} as const satisfies CommandSpec;

export const PROMPTS_LIST = {
  path: 'prompts list',
  summary: 'list all prompts of the local service',
  examples: ['prompts list', 'prompts list --query "[].slug"'],
  notes: `Only the local service can list its prompts. For other services: promptrun prompts search <words>.
${PROMPT_COLUMNS_NOTE}`,
} as const satisfies CommandSpec;

export const PROMPTS_GET = {
  path: 'prompts get',
  summary: 'show the title, version and inputs of a prompt',
  arguments: [['<prompt>', 'an alias, a prompt file, a slug, or the id of a prompt or version']],
  flags: [
    [
      '--version-id <promptVersionId>',
      'show this version instead of the latest',
      { completes: 'versions' },
    ],
  ],
  examples: [
    'prompts get hello',
    'prompts get hello@3f0a9f0e',
    'prompts get hello --query config.textInputs',
  ],
} as const satisfies CommandSpec;

export const PROMPTS_SEARCH = {
  path: 'prompts search',
  summary: 'find prompts',
  arguments: [['<words...>', 'the words to search for']],
  examples: ['prompts search postcard', 'prompts search weekly report --query "[].slug"'],
  notes: PROMPT_COLUMNS_NOTE,
} as const satisfies CommandSpec;

export const PROMPTS_NEW = {
  path: 'prompts new',
  summary: 'write a prompt file to start from, and its test file',
  arguments: [
    [
      '<file>',
      'the prompt file to write; .prompt is added if missing',
      { completes: 'promptFiles' },
    ],
  ],
  flags: [
    ['--image', 'write a prompt that generates an image'],
    [
      '--from <file>',
      "convert another tool's file, such as promptfooconfig.yaml, and its tests",
      { conflicts: 'image' },
    ],
    ['--items <file>', "with --from: the rows (JSONL) of an evaluation of OpenAI's Evals"],
    ['--prompt <n>', 'with --from: the number of the prompt if there are several, from 1'],
    ['--force', 'overwrite existing files'],
  ],
  examples: [
    'prompts new explain.prompt',
    'prompts new places/postcard.prompt --image',
    'prompts new summary.prompt --from .github/prompts/summary.prompt.yml',
    'prompts new answer.prompt --from promptfooconfig.yaml --prompt 2',
    'prompts new answer.prompt --from eval.json --items items.jsonl',
  ],
  notes: `--from leaves out whatever has no equivalent in a prompt or test file, and reports it with its line. When piped, \
prints the path of each written file, one per line.`,
} as const satisfies CommandSpec;

export const PROMPTS_CHECK = {
  path: 'prompts check',
  summary: 'report every fault in prompt files, with line and column',
  arguments: [['[file...]', 'prompt files (*.prompt, *.prompt.yml)', { completes: 'promptFiles' }]],
  flags: [
    ['--models', 'report models that this machine does not know as faults'],
    ['--models-from <file>', 'also read models from this file'],
    ['--print-schema', 'print the JSON Schema of the front matter, for editors'],
  ],
  examples: [
    'prompts check haiku.prompt',
    'prompts check prompts/*.prompt',
    'prompts check --print-schema > prompt.schema.json',
  ],
  notes: `A prompt with a fault can't be used (exit 2); a note is a warning (exit 0).
Each line is: file:line:column: fault or note: message.`,
} as const satisfies CommandSpec;

export const PROMPTS_RENDER = {
  path: 'prompts render',
  summary: 'show what a model would get',
  arguments: [['<prompt>', 'a prompt file, or a prompt of the embedded service']],
  flags: INPUT_FLAGS,
  examples: [
    'prompts render hello -i name=Ada',
    'prompts render ./my.prompt --inputs inputs.yaml --json',
    'prompts render describe --image photo.jpg',
  ],
  notes:
    'Runs, publishes and fetches nothing. Values of --inputs keep their types: numbers stay numbers.',
} as const satisfies CommandSpec;

export const PROMPTS_PUBLISH = {
  path: 'prompts publish',
  summary: 'publish prompt files to the local service',
  arguments: [['[file...]', 'prompt files (*.prompt)', { completes: 'promptFiles' }]],
  flags: [
    ['--unpublish <slug>', 'unpublish a prompt; repeatable', { repeats: true }],
    DATABASE_FLAG,
  ],
  examples: [
    'prompts publish haiku.prompt',
    'prompts publish prompts/*.prompt',
    'prompts publish --unpublish haiku',
  ],
  notes: `If a promptrun serve is configured, the command publishes to it; this needs an author's key (keys create --author).
Columns when piped: slug, prompt version, title, result (published, unchanged or unpublished).`,
} as const satisfies CommandSpec;

export const PROMPTS_SKILL = {
  path: 'prompts skill',
  summary: 'write a SKILL.md for each prompt, so that an agent can run it',
  arguments: [['<prompt...>', 'the prompts']],
  flags: [
    ['--to <dir>', 'the directory to write to (default: .claude/skills)'],
    ['--force', 'overwrite files that differ'],
  ],
  examples: ['prompts skill hello', 'prompts skill hello postcard --to skills'],
  notes: 'When piped, prints the path of each written file, one per line.',
} as const satisfies CommandSpec;
