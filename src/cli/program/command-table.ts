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
import {
  PROFILE,
  PROFILE_ADD,
  PROFILE_LIST,
  PROFILE_REMOVE,
  PROFILE_USE,
} from '../commands/profile/spec.ts';
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
import { defineCommand, type ProgramCommand, type ProgramTable } from './program-command.ts';

const RUNNING_HEADING = 'Run prompts:';

const EXPLORING_HEADING = 'Explore:';

/**
 * The commands under the headings of the root's help, in its order. Loads the code of each when it
 * is called.
 */
const SECTIONS: Readonly<Record<string, readonly ProgramCommand[]>> = {
  [RUNNING_HEADING]: [
    defineCommand(RUN, () => import('../commands/run/run-target.ts'), 'runTarget'),
    defineCommand(BATCH, () => import('../commands/batch/batch.ts'), 'batch'),
    defineCommand(BATCH_REPORT, () => import('../commands/batch/batch.ts'), 'printBatchReport'),
    defineCommand(TEST, () => import('../commands/test/test.ts'), 'test'),
    defineCommand(MCP, () => import('../commands/mcp/mcp.ts'), 'serveMcp'),
    defineCommand(COMPARE, () => import('../commands/compare/compare.ts'), 'compare'),
    JUDGE,
    defineCommand(JUDGE_CHECK, () => import('../commands/judge/check.ts'), 'runJudgeCheck'),
    defineCommand(RUNS, () => import('../commands/runs/list.ts'), 'printRunList'),
    defineCommand(RUNS_LIST, () => import('../commands/runs/list.ts'), 'printRunList'),
    defineCommand(RUNS_GET, () => import('../commands/runs/print-runs.ts'), 'printRun'),
    defineCommand(RUNS_SHOW, () => import('../commands/runs/show.ts'), 'printRunDetails'),
    defineCommand(RUNS_WAIT, () => import('../commands/runs/print-runs.ts'), 'waitForRuns'),
    defineCommand(RUNS_CANCEL, () => import('../commands/runs/cancel.ts'), 'cancelRuns'),
    defineCommand(RUNS_RERUN, () => import('../commands/runs/rerun.ts'), 'rerun'),
    defineCommand(RUNS_SAVE, () => import('../commands/runs/print-runs.ts'), 'saveRuns'),
    defineCommand(RUNS_JOURNAL, () => import('../commands/runs/journal.ts'), 'printStartedRuns'),
  ],
  [EXPLORING_HEADING]: [
    defineCommand(PROMPTS, () => import('../commands/prompts/prompts.ts'), 'printPromptsOrHelp'),
    defineCommand(PROMPTS_LIST, () => import('../commands/prompts/prompts.ts'), 'printPromptList'),
    defineCommand(PROMPTS_GET, () => import('../commands/prompts/prompts.ts'), 'printPrompt'),
    defineCommand(
      PROMPTS_SEARCH,
      () => import('../commands/prompts/prompts.ts'),
      'printMatchingPrompts',
    ),
    defineCommand(PROMPTS_NEW, () => import('../commands/prompts/new.ts'), 'writeNewPrompt'),
    defineCommand(PROMPTS_CHECK, () => import('../commands/prompts/check.ts'), 'checkPrompts'),
    defineCommand(
      PROMPTS_RENDER,
      () => import('../commands/prompts/render.ts'),
      'printRenderedPrompt',
    ),
    defineCommand(
      PROMPTS_PUBLISH,
      () => import('../commands/prompts/publish.ts'),
      'publishPrompts',
    ),
    defineCommand(PROMPTS_SKILL, () => import('../commands/prompts/skill.ts'), 'writeSkills'),
    VERSIONS,
    defineCommand(VERSIONS_LIST, () => import('../commands/versions/versions.ts'), 'printVersions'),
    defineCommand(VERSIONS_GET, () => import('../commands/versions/versions.ts'), 'printVersion'),
    defineCommand(VERSIONS_LABEL, () => import('../commands/versions/label.ts'), 'changeLabel'),
    defineCommand(VERSIONS_DIFF, () => import('../commands/versions/diff.ts'), 'diffVersions'),
    defineCommand(RESOURCES, () => import('../commands/resources/resources.ts'), 'printModels'),
    defineCommand(
      RESOURCES_LIST,
      () => import('../commands/resources/resources.ts'),
      'printModels',
    ),
    defineCommand(
      RESOURCES_REFRESH,
      () => import('../commands/resources/resources.ts'),
      'refreshModels',
    ),
    defineCommand(
      RESOURCES_STATUS,
      () => import('../commands/resources/resources.ts'),
      'printModelCacheStatus',
    ),
    defineCommand(MODELS, () => import('../commands/resources/resources.ts'), 'printModels'),
    defineCommand(MODELS_LIST, () => import('../commands/resources/resources.ts'), 'printModels'),
    defineCommand(
      MODELS_REFRESH,
      () => import('../commands/resources/resources.ts'),
      'refreshModels',
    ),
    defineCommand(
      MODELS_STATUS,
      () => import('../commands/resources/resources.ts'),
      'printModelCacheStatus',
    ),
    defineCommand(
      MODELS_DISCOVER,
      () => import('../commands/models/models.ts'),
      'writeDiscoveredModels',
    ),
    defineCommand(MODELS_PROVIDERS, () => import('../commands/models/models.ts'), 'printProviders'),
    defineCommand(MODELS_CHECK, () => import('../commands/models/check.ts'), 'checkModelAnswers'),
    defineCommand(ACCOUNT, () => import('../commands/account/account.ts'), 'printAccount'),
    defineCommand(USAGE, () => import('../commands/usage/usage.ts'), 'printUsage'),
    defineCommand(API, () => import('../commands/api/api.ts'), 'callEndpoint'),
  ],
  'Set up:': [
    defineCommand(LOGIN, () => import('../commands/login/login.ts'), 'login'),
    defineCommand(LOGOUT, () => import('../commands/login/login.ts'), 'logout'),
    defineCommand(DOCTOR, () => import('../commands/doctor/doctor.ts'), 'runDoctor'),
    defineCommand(RESET, () => import('../commands/reset/reset.ts'), 'reset'),
    defineCommand(UNINSTALL, () => import('../commands/uninstall/uninstall.ts'), 'uninstall'),
    defineCommand(
      COMPLETION,
      () => import('../commands/completion/completion.ts'),
      'printCompletion',
    ),
    PROFILE,
    defineCommand(PROFILE_LIST, () => import('../commands/profile/profile.ts'), 'printProfiles'),
    defineCommand(PROFILE_USE, () => import('../commands/profile/profile.ts'), 'activateProfile'),
    defineCommand(PROFILE_ADD, () => import('../commands/profile/profile.ts'), 'addProfile'),
    defineCommand(PROFILE_REMOVE, () => import('../commands/profile/profile.ts'), 'removeProfile'),
    CONFIG,
    defineCommand(CONFIG_GET, () => import('../commands/config/config.ts'), 'printSetting'),
    defineCommand(CONFIG_SET, () => import('../commands/config/config.ts'), 'setSetting'),
    defineCommand(CONFIG_UNSET, () => import('../commands/config/config.ts'), 'resetSetting'),
    defineCommand(CONFIG_LIST, () => import('../commands/config/config.ts'), 'printSettings'),
    defineCommand(CONFIG_PATH, () => import('../commands/config/config.ts'), 'printStoredPaths'),
    ALIAS,
    defineCommand(ALIAS_SET, () => import('../commands/alias/alias.ts'), 'setAlias'),
    defineCommand(ALIAS_REMOVE, () => import('../commands/alias/alias.ts'), 'removeAlias'),
    defineCommand(ALIAS_LIST, () => import('../commands/alias/alias.ts'), 'printAliases'),
    {
      ...HELP,
      explain: async (...input) => (await import('../commands/help/help.ts')).printHelp(...input),
    },
  ],
  'The local service:': [
    defineCommand(SERVE, () => import('../commands/serve/serve.ts'), 'serve'),
    KEYS,
    defineCommand(KEYS_CREATE, () => import('../commands/keys/keys.ts'), 'addKey'),
    defineCommand(KEYS_LIST, () => import('../commands/keys/keys.ts'), 'printKeys'),
    defineCommand(KEYS_REVOKE, () => import('../commands/keys/keys.ts'), 'revokeKey'),
    USERS,
    defineCommand(USERS_LIST, () => import('../commands/users/users.ts'), 'printUsers'),
    defineCommand(USERS_SHOW, () => import('../commands/users/users.ts'), 'printUser'),
    defineCommand(USERS_SET, () => import('../commands/users/users.ts'), 'setUser'),
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

/** The headings whose commands take the flags of requests to a service. */
export const REQUEST_HEADINGS: readonly (string | undefined)[] = [
  RUNNING_HEADING,
  EXPLORING_HEADING,
];

/** Every command, and the flags of all of them. */
export const COMMAND_TABLE: ProgramTable = {
  globalFlags: GLOBAL_FLAGS,
  commands: [
    ...Object.entries(SECTIONS).flatMap(([heading, commands]) =>
      commands.map(command => ({ ...command, heading })),
    ),
    defineCommand(
      COMPLETE,
      async () => {
        const { createCompleteAction } = await import('../complete/complete.ts');
        return { complete: createCompleteAction(COMMAND_TABLE) };
      },
      'complete',
    ),
  ],
};
