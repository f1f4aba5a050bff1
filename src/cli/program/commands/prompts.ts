import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG, INPUT_FLAGS } from './shared-flags.ts';

const PROMPT_ROW =
  'Piped, a line is: slug, prompt version, prompt, modality, estimated credits, time, title, description.';

/** The commands that look after prompts and their versions. */
export const PROMPTS_COMMANDS: readonly CommandSpec[] = [
  {
    path: 'prompts',
    aliases: ['prompt'],
    summary: 'find, read, check and publish prompts',
    examples: ['prompts', 'prompts get hello', 'prompts new haiku.prompt'],
    load: () => import('../../commands/prompts/prompts.ts').then(file => file.prompts),
  },
  {
    path: 'prompts list',
    summary: 'all prompts of the local service',
    examples: ['prompts list', "prompts list --query '[].slug'"],
    notes: `The service of this machine has such a list; other services are searched: promptrun prompts search <words>.
${PROMPT_ROW}`,
    load: () => import('../../commands/prompts/prompts.ts').then(file => file.promptsList),
  },
  {
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
    load: () => import('../../commands/prompts/prompts.ts').then(file => file.promptsGet),
  },
  {
    path: 'prompts search',
    summary: 'find prompts',
    arguments: [['<words...>', 'what to look for']],
    examples: ['prompts search postcard', "prompts search weekly report --query '[].slug'"],
    notes: PROMPT_ROW,
    load: () => import('../../commands/prompts/prompts.ts').then(file => file.promptsSearch),
  },
  {
    path: 'prompts new',
    summary: 'a prompt file to start from, and its test file',
    arguments: [['<file>', 'the prompt file to write; .prompt is added if it is missing', 'promptFiles']],
    flags: [
      ['--image', 'a prompt that makes an image'],
      [
        '--from <file>',
        'convert a .prompt.yml or promptfooconfig.yaml, and its tests',
        { conflicts: 'image' },
      ],
      ['--prompt <n>', 'with --from: which of several prompts, from 1'],
      ['--force', 'overwrite files that exist'],
    ],
    examples: [
      'prompts new explain.prompt',
      'prompts new places/postcard.prompt --image',
      'prompts new summary.prompt --from .github/prompts/summary.prompt.yml',
      'prompts new answer.prompt --from promptfooconfig.yaml --prompt 2',
    ],
    notes: `What has no equivalent in a prompt or test file is named with its line and left out. A file that exists is kept
unless --force is given. Piped, a line is the path of a file that was written.`,
    load: () => import('../../commands/prompts/new.ts').then(file => file.promptsNew),
  },
  {
    path: 'prompts check',
    summary: 'every fault of prompt files, with its place',
    arguments: [['[file...]', 'prompt files (*.prompt, *.prompt.yml)', 'promptFiles']],
    flags: [
      ['--models', 'make a model that this machine does not know a fault'],
      ['--print-schema', 'print the JSON Schema of the front matter, for editors'],
    ],
    examples: [
      'prompts check haiku.prompt',
      'prompts check prompts/*.prompt',
      'prompts check --print-schema > prompt.schema.json',
    ],
    notes: `A fault keeps a prompt from being used (exit 2); a note is only worth knowing (exit 0).
A line is: file:line:column: fault or note: what.`,
    load: () => import('../../commands/prompts/check.ts').then(file => file.promptsCheck),
  },
  {
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
    load: () => import('../../commands/prompts/render.ts').then(file => file.promptsRender),
  },
  {
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
    load: () => import('../../commands/prompts/publish.ts').then(file => file.promptsPublish),
  },
  {
    path: 'prompts skill',
    summary: 'a SKILL.md for each prompt, with which an agent runs it',
    arguments: [['<prompt...>', 'which prompts']],
    flags: [
      ['--to <dir>', 'where to (default: .claude/skills)'],
      ['--force', 'replace files that differ'],
    ],
    examples: ['prompts skill hello', 'prompts skill hello postcard --to skills'],
    notes: 'Piped, a line is the path of a file that was written.',
    load: () => import('../../commands/prompts/skill.ts').then(file => file.promptsSkill),
  },
  {
    path: 'versions',
    aliases: ['version'],
    summary: 'the published versions of a prompt',
    examples: ['versions list hello', 'versions diff hello'],
  },
  {
    path: 'versions list',
    summary: 'published versions of a prompt, newest first',
    arguments: [['<prompt>', 'an alias, a prompt file, an id or a slug', 'prompts']],
    examples: ['versions list hello', "versions list hello --query '[0].promptVersionId'"],
    notes: 'Piped, a line is: prompt version, time, and "latest" for the latest one.',
    load: () => import('../../commands/versions/versions.ts').then(file => file.versionsList),
  },
  {
    path: 'versions get',
    summary: 'one version and its inputs',
    arguments: [
      [
        '<promptVersionId>',
        'the id of a version, an alias, slug@<beginning of the id>, or a slug',
        'prompts',
      ],
    ],
    examples: ['versions get 9b1f7c4e-1d0a-4a52-8f4c-2b6f3f1f0d77', 'versions get hello@9b1f7c4e --json'],
    load: () => import('../../commands/versions/versions.ts').then(file => file.versionsGet),
  },
  {
    path: 'versions diff',
    summary: 'what changed between two versions',
    arguments: [
      ['<prompt>', 'an alias, a prompt file, an id or a slug', 'prompts'],
      ['[version...]', 'the ids of two versions, or beginnings of them'],
    ],
    examples: [
      'versions diff hello',
      'versions diff hello 3f0a9f0e',
      'versions diff hello 3f0a9f0e 9b1f7c4e --json',
    ],
    notes:
      'Without versions, the latest two; with one, that one and the latest. A file is compared with the latest version of its slug.',
    load: () => import('../../commands/versions/diff.ts').then(file => file.versionsDiff),
  },
];
