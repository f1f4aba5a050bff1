import { ACCOUNT } from '../commands/account/spec.ts';
import { ALIAS, ALIAS_LIST, ALIAS_REMOVE, ALIAS_SET } from '../commands/alias/spec.ts';
import { API } from '../commands/api/spec.ts';
import { BATCH, BATCH_REPORT } from '../commands/batch/spec.ts';
import { COMPARE } from '../commands/compare/spec.ts';
import { COMPLETION } from '../commands/completion/spec.ts';
import {
  CONFIG,
  CONFIG_GET,
  CONFIG_LIST,
  CONFIG_PATH,
  CONFIG_SET,
  CONFIG_UNSET,
} from '../commands/config/spec.ts';
import { DOCTOR } from '../commands/doctor/spec.ts';
import { HELP } from '../commands/help/spec.ts';
import { JUDGE, JUDGE_CHECK } from '../commands/judge/spec.ts';
import { KEYS, KEYS_CREATE, KEYS_LIST, KEYS_REVOKE } from '../commands/keys/spec.ts';
import { LOGIN, LOGOUT } from '../commands/login/spec.ts';
import { MCP } from '../commands/mcp/spec.ts';
import { MODELS_CHECK, MODELS_DISCOVER, MODELS_PROVIDERS } from '../commands/models/spec.ts';
import { PROFILE, PROFILE_ADD, PROFILE_LIST, PROFILE_REMOVE, PROFILE_USE } from '../commands/profile/spec.ts';
import {
  PROMPTS,
  PROMPTS_CHECK,
  PROMPTS_GET,
  PROMPTS_LIST,
  PROMPTS_NEW,
  PROMPTS_PUBLISH,
  PROMPTS_RENDER,
  PROMPTS_SEARCH,
  PROMPTS_SKILL,
} from '../commands/prompts/spec.ts';
import { RESET } from '../commands/reset/spec.ts';
import {
  MODELS,
  MODELS_LIST,
  MODELS_REFRESH,
  MODELS_STATUS,
  RESOURCES,
  RESOURCES_LIST,
  RESOURCES_REFRESH,
  RESOURCES_STATUS,
} from '../commands/resources/spec.ts';
import { RUN } from '../commands/run/spec.ts';
import {
  RUNS,
  RUNS_CANCEL,
  RUNS_GET,
  RUNS_JOURNAL,
  RUNS_LIST,
  RUNS_RERUN,
  RUNS_SAVE,
  RUNS_SHOW,
  RUNS_WAIT,
} from '../commands/runs/spec.ts';
import { SERVE } from '../commands/serve/spec.ts';
import { TEST } from '../commands/test/spec.ts';
import { UNINSTALL } from '../commands/uninstall/spec.ts';
import { USAGE } from '../commands/usage/spec.ts';
import { USERS, USERS_LIST, USERS_SET, USERS_SHOW } from '../commands/users/spec.ts';
import {
  VERSIONS,
  VERSIONS_DIFF,
  VERSIONS_GET,
  VERSIONS_LABEL,
  VERSIONS_LIST,
} from '../commands/versions/spec.ts';
import type { CommandSpec } from '../core/command-spec.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import { command, type ProgramCommand, type ProgramTable } from './program-command.ts';

const RUNNING_HEADING = 'Run prompts:';

const EXPLORING_HEADING = 'Explore:';

/** The commands under the headings of the root's help, in its order. Loads the code of each when it is called. */
const SECTIONS: Readonly<Record<string, readonly ProgramCommand[]>> = {
  [RUNNING_HEADING]: [
    command(RUN, () => import('../commands/run/run-target.ts').then(file => file.runTarget)),
    command(BATCH, () => import('../commands/batch/batch.ts').then(file => file.batch)),
    command(BATCH_REPORT, () => import('../commands/batch/batch.ts').then(file => file.batchReport)),
    command(TEST, () => import('../commands/test/test.ts').then(file => file.test)),
    command(MCP, () => import('../commands/mcp/mcp.ts').then(file => file.mcp)),
    command(COMPARE, () => import('../commands/compare/compare.ts').then(file => file.compare)),
    JUDGE,
    command(JUDGE_CHECK, () => import('../commands/judge/check.ts').then(file => file.judgeCheck)),
    command(RUNS, () => import('../commands/runs/list.ts').then(file => file.runsList)),
    command(RUNS_LIST, () => import('../commands/runs/list.ts').then(file => file.runsList)),
    command(RUNS_GET, () => import('../commands/runs/print-runs.ts').then(file => file.runsGet)),
    command(RUNS_SHOW, () => import('../commands/runs/show.ts').then(file => file.runsShow)),
    command(RUNS_WAIT, () => import('../commands/runs/print-runs.ts').then(file => file.runsWait)),
    command(RUNS_CANCEL, () => import('../commands/runs/cancel.ts').then(file => file.runsCancel)),
    command(RUNS_RERUN, () => import('../commands/runs/rerun.ts').then(file => file.runsRerun)),
    command(RUNS_SAVE, () => import('../commands/runs/print-runs.ts').then(file => file.runsSave)),
    command(RUNS_JOURNAL, () => import('../commands/runs/journal.ts').then(file => file.runsJournal)),
  ],
  [EXPLORING_HEADING]: [
    command(PROMPTS, () => import('../commands/prompts/prompts.ts').then(file => file.prompts)),
    command(PROMPTS_LIST, () => import('../commands/prompts/prompts.ts').then(file => file.promptsList)),
    command(PROMPTS_GET, () => import('../commands/prompts/prompts.ts').then(file => file.promptsGet)),
    command(PROMPTS_SEARCH, () => import('../commands/prompts/prompts.ts').then(file => file.promptsSearch)),
    command(PROMPTS_NEW, () => import('../commands/prompts/new.ts').then(file => file.promptsNew)),
    command(PROMPTS_CHECK, () => import('../commands/prompts/check.ts').then(file => file.promptsCheck)),
    command(PROMPTS_RENDER, () => import('../commands/prompts/render.ts').then(file => file.promptsRender)),
    command(PROMPTS_PUBLISH, () =>
      import('../commands/prompts/publish.ts').then(file => file.promptsPublish),
    ),
    command(PROMPTS_SKILL, () => import('../commands/prompts/skill.ts').then(file => file.promptsSkill)),
    VERSIONS,
    command(VERSIONS_LIST, () => import('../commands/versions/versions.ts').then(file => file.versionsList)),
    command(VERSIONS_GET, () => import('../commands/versions/versions.ts').then(file => file.versionsGet)),
    command(VERSIONS_LABEL, () => import('../commands/versions/label.ts').then(file => file.versionsLabel)),
    command(VERSIONS_DIFF, () => import('../commands/versions/diff.ts').then(file => file.versionsDiff)),
    command(RESOURCES, () => import('../commands/resources/resources.ts').then(file => file.resourcesList)),
    command(RESOURCES_LIST, () =>
      import('../commands/resources/resources.ts').then(file => file.resourcesList),
    ),
    command(RESOURCES_REFRESH, () =>
      import('../commands/resources/resources.ts').then(file => file.resourcesRefresh),
    ),
    command(RESOURCES_STATUS, () =>
      import('../commands/resources/resources.ts').then(file => file.resourcesStatus),
    ),
    command(MODELS, () => import('../commands/resources/resources.ts').then(file => file.resourcesList)),
    command(MODELS_LIST, () => import('../commands/resources/resources.ts').then(file => file.resourcesList)),
    command(MODELS_REFRESH, () =>
      import('../commands/resources/resources.ts').then(file => file.resourcesRefresh),
    ),
    command(MODELS_STATUS, () =>
      import('../commands/resources/resources.ts').then(file => file.resourcesStatus),
    ),
    command(MODELS_DISCOVER, () => import('../commands/models/models.ts').then(file => file.modelsDiscover)),
    command(MODELS_PROVIDERS, () =>
      import('../commands/models/models.ts').then(file => file.modelsProviders),
    ),
    command(MODELS_CHECK, () => import('../commands/models/check.ts').then(file => file.modelsCheck)),
    command(ACCOUNT, () => import('../commands/account/account.ts').then(file => file.account)),
    command(USAGE, () => import('../commands/usage/usage.ts').then(file => file.usage)),
    command(API, () => import('../commands/api/api.ts').then(file => file.api)),
  ],
  'Set up:': [
    command(LOGIN, () => import('../commands/login/login.ts').then(file => file.login)),
    command(LOGOUT, () => import('../commands/login/login.ts').then(file => file.logout)),
    command(DOCTOR, () => import('../commands/doctor/doctor.ts').then(file => file.doctor)),
    command(RESET, () => import('../commands/reset/reset.ts').then(file => file.reset)),
    command(UNINSTALL, () => import('../commands/uninstall/uninstall.ts').then(file => file.uninstall)),
    command(COMPLETION, () => import('../commands/completion/completion.ts').then(file => file.completion)),
    PROFILE,
    command(PROFILE_LIST, () => import('../commands/profile/profile.ts').then(file => file.profileList)),
    command(PROFILE_USE, () => import('../commands/profile/profile.ts').then(file => file.profileUse)),
    command(PROFILE_ADD, () => import('../commands/profile/profile.ts').then(file => file.profileAdd)),
    command(PROFILE_REMOVE, () => import('../commands/profile/profile.ts').then(file => file.profileRemove)),
    CONFIG,
    command(CONFIG_GET, () => import('../commands/config/config.ts').then(file => file.configGet)),
    command(CONFIG_SET, () => import('../commands/config/config.ts').then(file => file.configSet)),
    command(CONFIG_UNSET, () => import('../commands/config/config.ts').then(file => file.configUnset)),
    command(CONFIG_LIST, () => import('../commands/config/config.ts').then(file => file.configList)),
    command(CONFIG_PATH, () => import('../commands/config/config.ts').then(file => file.configPath)),
    ALIAS,
    command(ALIAS_SET, () => import('../commands/alias/alias.ts').then(file => file.aliasSet)),
    command(ALIAS_REMOVE, () => import('../commands/alias/alias.ts').then(file => file.aliasRemove)),
    command(ALIAS_LIST, () => import('../commands/alias/alias.ts').then(file => file.aliasList)),
    {
      ...HELP,
      explain: async (...input) => (await import('../commands/help/help.ts')).help(...input),
    },
  ],
  'The local service:': [
    command(SERVE, () => import('../commands/serve/serve.ts').then(file => file.serve)),
    KEYS,
    command(KEYS_CREATE, () => import('../commands/keys/keys.ts').then(file => file.keysCreate)),
    command(KEYS_LIST, () => import('../commands/keys/keys.ts').then(file => file.keysList)),
    command(KEYS_REVOKE, () => import('../commands/keys/keys.ts').then(file => file.keysRevoke)),
    USERS,
    command(USERS_LIST, () => import('../commands/users/users.ts').then(file => file.usersList)),
    command(USERS_SHOW, () => import('../commands/users/users.ts').then(file => file.usersShow)),
    command(USERS_SET, () => import('../commands/users/users.ts').then(file => file.usersSet)),
  ],
};

const COMPLETE = {
  path: '__complete',
  summary: 'candidates for the completion scripts',
  hidden: true,
  arguments: [
    ['<shell>', ''],
    ['[words...]', ''],
  ],
  examples: [],
} as const satisfies CommandSpec;

/** The headings whose commands send requests to a service. */
export const HEADINGS_OF_REQUESTS: readonly (string | undefined)[] = [RUNNING_HEADING, EXPLORING_HEADING];

/** Every command, and the flags of all of them. */
export const COMMAND_TABLE: ProgramTable = {
  globalFlags: GLOBAL_FLAGS,
  commands: [
    ...Object.entries(SECTIONS).flatMap(([heading, commands]) =>
      commands.map(command => ({ ...command, heading })),
    ),
    command(COMPLETE, async () => (await import('../complete/complete.ts')).completeFrom(COMMAND_TABLE)),
  ],
};
