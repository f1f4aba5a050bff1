import type { CommandSpec, CommandTable } from '../core/command-spec.ts';
import { LOCAL_COMMANDS } from './commands/local.ts';
import { LOOKING_COMMANDS } from './commands/looking.ts';
import { PROMPTS_COMMANDS } from './commands/prompts.ts';
import { RUNNING_COMMANDS } from './commands/running.ts';
import { RUNS_COMMANDS } from './commands/runs.ts';
import { SETTING_UP_COMMANDS } from './commands/setting-up.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';

const RUNNING = 'Run prompts:';
const LOOKING = 'Look around:';

/** The commands by the headings of the root's help, in its order. */
const SECTIONS: Readonly<Record<string, readonly CommandSpec[]>> = {
  [RUNNING]: [...RUNNING_COMMANDS, ...RUNS_COMMANDS],
  [LOOKING]: [...PROMPTS_COMMANDS, ...LOOKING_COMMANDS],
  'Set up:': SETTING_UP_COMMANDS,
  'The local service:': LOCAL_COMMANDS,
};

/** Those of the commands that ask a service. */
export const HEADINGS_OF_REQUESTS: readonly (string | undefined)[] = [RUNNING, LOOKING];

/** Every command there is, and the flags of each of them. */
export const COMMAND_TABLE: CommandTable = {
  globalFlags: GLOBAL_FLAGS,
  commands: [
    ...Object.entries(SECTIONS).flatMap(([heading, specs]) => specs.map(spec => ({ ...spec, heading }))),
    {
      path: '__complete',
      summary: 'candidates for the completion scripts',
      hidden: true,
      arguments: [
        ['<shell>', ''],
        ['[words...]', ''],
      ],
      examples: [],
      load: async () => (await import('../complete/complete.ts')).completeFrom(COMMAND_TABLE),
    },
  ],
};
