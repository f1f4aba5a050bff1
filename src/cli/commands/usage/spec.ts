import type { CommandSpec } from '../../core/command-spec.ts';

export const USAGE = {
  path: 'usage',
  summary: 'show what your runs cost in a period',
  flags: [
    ['--since <time>', 'the start: Unix seconds, ISO 8601 or an age such as 7d (default: 30d)'],
    ['--until <time>', 'the end, in the same form (default: now)'],
    [
      '--by <field>',
      'how to group the runs (default: prompt)',
      { choices: ['prompt', 'day', 'model', 'status'] },
    ],
  ],
  examples: ['usage', 'usage --since 7d --by day', 'usage --by model --json'],
  notes: `Shows credits for any service; tokens and money only for the embedded one.
Columns when piped: group, runs, failed, credits, tokens in, out and cached (- if \
unknown), US dollars, estimated or not.`,
} as const satisfies CommandSpec;
