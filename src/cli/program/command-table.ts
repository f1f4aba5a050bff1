import type { CommandTable } from '../core/command-spec.ts';
import { LOCAL_COMMANDS } from './commands/local.ts';
import { LOOKING_COMMANDS } from './commands/looking.ts';
import { PROMPTS_COMMANDS } from './commands/prompts.ts';
import { RUNNING_COMMANDS } from './commands/running.ts';
import { RUNS_COMMANDS } from './commands/runs.ts';
import { SETTING_UP_COMMANDS } from './commands/setting-up.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';

/** Every command there is, and the flags of each of them. */
export const COMMAND_TABLE: CommandTable = {
  globalFlags: GLOBAL_FLAGS,
  commands: [
    ...RUNNING_COMMANDS,
    ...RUNS_COMMANDS,
    ...PROMPTS_COMMANDS,
    ...LOOKING_COMMANDS,
    ...SETTING_UP_COMMANDS,
    ...LOCAL_COMMANDS,
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
