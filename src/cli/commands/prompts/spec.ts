import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG, INPUT_FLAGS } from '../../core/shared-flags.ts';

const PROMPT_ROW =
  'Piped, a line is: slug, prompt version, prompt, modality, estimated credits, time, title, description.';

export const PROMPTS = {
  path: 'prompts',
  aliases: ['prompt'],
  summary: 'find, read, check and publish prompts',
  examples: ['prompts', 'prompts get hello', 'prompts new haiku.prompt'],
} as const satisfies CommandSpec;

export const PROMPTS_LIST = {
  path: 'prompts list',
  summary: 'all prompts of the local service',
  examples: ['prompts list', "prompts list --query '[].slug'"],
  notes: `The service of this machine has such a list; other services are searched: promptrun prompts search <words>.
${PROMPT_ROW}`,
} as const satisfies CommandSpec;

export const PROMPTS_GET = {
  path: 'prompts get',
  summary: 'title, version and inputs of a prompt',
  arguments: [['<prompt>', 'which prompt']],
  flags: [
    ['--version-id <promptVersionId>', 'this version instead of the latest', { completes: 'versions' }],
  ],
  examples: [
    'prompts get hello',
    'prompts get hello@3f0a9f0e',
    'prompts get hello --query config.textInputs',
  ],
  notes: 'The prompt is an alias, a prompt file, the id of a prompt or of a version, or a slug.',
} as const satisfies CommandSpec;

export const PROMPTS_SEARCH = {
  path: 'prompts search',
  summary: 'find prompts',
  arguments: [['<words...>', 'what to look for']],
  examples: ['prompts search postcard', "prompts search weekly report --query '[].slug'"],
  notes: PROMPT_ROW,
} as const satisfies CommandSpec;

export const PROMPTS_NEW = {
  path: 'prompts new',
  summary: 'a prompt file to start from, and its test file',
  arguments: [['<file>', 'the prompt file to write; .prompt is added if it is missing', 'promptFiles']],
  flags: [
    ['--image', 'a prompt that makes an image'],
    ['--from <file>', 'convert a .prompt.yml or promptfooconfig.yaml, and its tests', { conflicts: 'image' }],
    ['--prompt <n>', 'with --from: which of several prompts, from 1'],
    ['--force', 'overwrite files that exist'],
  ],
  examples: [
    'prompts new explain.prompt',
    'prompts new places/postcard.prompt --image',
    'prompts new summary.prompt --from .github/prompts/summary.prompt.yml',
    'prompts new answer.prompt --from promptfooconfig.yaml --prompt 2',
  ],
  notes: `What has no equivalent in a prompt or test file is named with its line and left out. A file that exists is kept \
unless --force is given. Piped, a line is the path of a file that was written.`,
} as const satisfies CommandSpec;

export const PROMPTS_CHECK = {
  path: 'prompts check',
  summary: 'every fault of prompt files, with its place',
  arguments: [['[file...]', 'prompt files (*.prompt, *.prompt.yml)', 'promptFiles']],
  flags: [
    ['--models', 'make a model that this machine does not know a fault'],
    ['--models-from <file>', 'read models from this file too'],
    ['--print-schema', 'print the JSON Schema of the front matter, for editors'],
  ],
  examples: [
    'prompts check haiku.prompt',
    'prompts check prompts/*.prompt',
    'prompts check --print-schema > prompt.schema.json',
  ],
  notes: `A fault keeps a prompt from being used (exit 2); a note is only worth knowing (exit 0).
A line is: file:line:column: fault or note: what.`,
} as const satisfies CommandSpec;

export const PROMPTS_RENDER = {
  path: 'prompts render',
  summary: 'what a model would be sent',
  arguments: [['<prompt>', 'a prompt file, or a prompt of the service of this machine']],
  flags: INPUT_FLAGS,
  examples: [
    'prompts render hello -i name=Ada',
    'prompts render ./my.prompt --inputs inputs.yaml --json',
    'prompts render describe --image photo.jpg',
  ],
  notes:
    'Nothing is run, published or fetched. The values of --inputs are taken as they are, numbers as numbers.',
} as const satisfies CommandSpec;

export const PROMPTS_PUBLISH = {
  path: 'prompts publish',
  summary: 'publish prompt files to the local service',
  arguments: [['[file...]', 'prompt files (*.prompt)', 'promptFiles']],
  flags: [['--unpublish <slug>', 'withdraw a prompt; repeatable', { repeats: true }], DATABASE_FLAG],
  examples: [
    'prompts publish haiku.prompt',
    'prompts publish prompts/*.prompt',
    'prompts publish --unpublish haiku',
  ],
  notes: `If a promptrun serve is configured they are sent there, which takes the key of an author (keys create --author).
Piped, a line is: slug, prompt version, title, and published, unchanged or unpublished.`,
} as const satisfies CommandSpec;

export const PROMPTS_SKILL = {
  path: 'prompts skill',
  summary: 'a SKILL.md for each prompt, with which an agent runs it',
  arguments: [['<prompt...>', 'which prompts']],
  flags: [
    ['--to <dir>', 'where to (default: .claude/skills)'],
    ['--force', 'replace files that differ'],
  ],
  examples: ['prompts skill hello', 'prompts skill hello postcard --to skills'],
  notes: 'Piped, a line is the path of a file that was written.',
} as const satisfies CommandSpec;
