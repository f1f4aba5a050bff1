import type { CommandSpec } from '../../core/command-spec.ts';

export const VERSIONS = {
  path: 'versions',
  aliases: ['version'],
  summary: 'list, compare and label the published versions of a prompt',
  examples: [
    'versions list hello',
    'versions label hello 9b1f7c4e production',
    'versions diff hello',
  ],
  notes: "The program's own version: promptrun --version",
} as const satisfies CommandSpec;

export const VERSIONS_LIST = {
  path: 'versions list',
  summary: 'list the published versions of a prompt, newest first',
  arguments: [['<prompt>', 'an alias, a prompt file, an id or a slug', { completes: 'prompts' }]],
  examples: ['versions list hello', 'versions list hello --query "[0].promptVersionId"'],
  notes: `Columns when piped: prompt version, time, "latest" for the latest one; then its \
labels and their moves, if there are any.`,
} as const satisfies CommandSpec;

export const VERSIONS_GET = {
  path: 'versions get',
  summary: 'show a version and its inputs',
  arguments: [
    [
      '<promptVersionId>',
      'the id of a version, an alias, slug@<beginning of the id>, or a slug',
      { completes: 'prompts' },
    ],
  ],
  examples: [
    'versions get 9b1f7c4e-1d0a-4a52-8f4c-2b6f3f1f0d77',
    'versions get hello@9b1f7c4e --json',
  ],
} as const satisfies CommandSpec;

export const VERSIONS_LABEL = {
  path: 'versions label',
  summary: 'set, move or remove a label of a prompt',
  arguments: [
    ['<prompt>', 'an alias, an id or a slug', { completes: 'prompts' }],
    [
      '<version-label...>',
      'an id, its beginning or a label, then the label; with --remove only the label',
      { completes: 'versions' },
    ],
  ],
  flags: [['--remove', 'remove the label']],
  examples: [
    'versions label hello 9b1f7c4e production',
    'versions label hello staging production',
    'run hello@production',
    'versions label hello production --remove',
  ],
  notes: `A label points to one version of a prompt, and can be moved. It has up to 64 characters \
of a–z, 0–9 and hyphens, and must not look like the beginning of an id. Labels exist on \
the local service; on a promptrun serve, setting one needs an author's key. \
promptrun versions list shows who moved them.`,
} as const satisfies CommandSpec;

export const VERSIONS_DIFF = {
  path: 'versions diff',
  summary: 'show what changed between two versions',
  arguments: [
    ['<prompt>', 'an alias, a prompt file, an id or a slug', { completes: 'prompts' }],
    ['[version...]', 'the ids of one or two versions, their beginnings or labels'],
  ],
  examples: [
    'versions diff hello',
    'versions diff hello production',
    'versions diff hello 3f0a9f0e 9b1f7c4e --json',
  ],
  notes:
    'Without versions, compares the latest two; with one, compares it with the latest. A prompt file is compared with the named version, or the latest version of its slug.',
} as const satisfies CommandSpec;
