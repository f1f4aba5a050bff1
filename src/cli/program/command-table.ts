import { type CommandEntry, type GroupEntry, LOCAL, LOOKING, RUNNING, SETTING_UP } from './command-entry.ts';
import { MACHINE_COMMANDS } from './machine-commands.ts';
import { SERVICE_COMMANDS } from './service-commands.ts';

/** Every command there is, in the order the help shows them. */
export const COMMANDS: readonly CommandEntry[] = [...SERVICE_COMMANDS, ...MACHINE_COMMANDS];

/** Every noun that has verbs. */
export const GROUPS: readonly GroupEntry[] = [
  {
    name: 'runs',
    aliases: [],
    summary: 'list, read, await and save runs',
    heading: RUNNING,
    examples: ['runs list --status failed', 'runs wait --last'],
  },
  {
    name: 'prompts',
    aliases: ['prompt'],
    summary: 'find, read, check and publish prompts',
    heading: LOOKING,
    examples: ['prompts', 'prompts get hello', 'prompts new haiku.prompt'],
    load: () => import('../commands/prompts/find.ts').then(file => file.declarePrompts),
  },
  {
    name: 'versions',
    aliases: ['version'],
    summary: 'the published versions of a prompt',
    heading: LOOKING,
    examples: ['versions list hello', 'versions diff hello'],
  },
  {
    name: 'resources',
    aliases: ['resource'],
    summary: 'models and their run options',
    heading: LOOKING,
    examples: ['resources list --modality image', 'resources refresh'],
  },
  {
    name: 'profile',
    aliases: ['profiles'],
    summary: 'named sets of base URL and key',
    heading: SETTING_UP,
    examples: ['profile add work --base-url https://prompts.example.com/v1', 'profile use work'],
  },
  {
    name: 'config',
    aliases: [],
    summary: 'settings',
    heading: SETTING_UP,
    examples: ['config list', 'config set concurrency 8'],
  },
  {
    name: 'alias',
    aliases: ['aliases'],
    summary: 'short names for targets',
    heading: SETTING_UP,
    examples: ['alias set haiku ./haiku.prompt', 'alias list'],
  },
  {
    name: 'keys',
    aliases: ['key'],
    summary: 'API keys of the local service',
    heading: LOCAL,
    examples: ['keys create --user ci', 'keys list'],
  },
];
