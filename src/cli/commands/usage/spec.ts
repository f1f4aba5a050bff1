import type { CommandSpec } from '../../core/command-spec.ts';

export const USAGE = {
  path: 'usage',
  summary: 'what the runs of a time cost',
  flags: [
    ['--since <time>', 'Unix seconds, ISO 8601 or an age such as 7d (default: 30d)'],
    ['--until <time>', 'likewise; now by default'],
    [
      '--by <what>',
      'prompt (default), day, model or status',
      { choices: ['prompt', 'day', 'model', 'status'] },
    ],
  ],
  examples: ['usage', 'usage --since 7d --by day', 'usage --by model --json'],
  notes: `Credits of any service; tokens and money of this machine's own.
Piped, a line is: what, runs, failed, credits, tokens in, out and cached (- if \
not known), US dollars, and whether they are estimated.`,
} as const satisfies CommandSpec;
